/* SPDX-License-Identifier: MIT */
/* The cause of a row in a part of the time: the rules of verdict.c, over sums by part of the
 * causes. Samples that are far longer than the others are not cut here. */
"use strict";
memlag.causes = (() => {
    const { limits, parts } = memlag.data;
    const FAULTS = -1;
    const Z = 1.959964; /* two-sided 95 % of the normal distribution */
    const SAMPLES = 0, COST = 1, STALLED = 2;
    const detail = (part) => (part === null || part === FAULTS ? "" : parts[part][1]);

    /* The greatest stall time of samples without a stall (tally_stalled in tally.c). */
    const highest = (event) => Z * Z * event;

    /* Sums by verdict of the values at KEY. */
    function byVerdict(sums, key) {
        const values = new Map();
        for (const [part, sum] of sums) {
            if (part === null || part === FAULTS)
                continue;
            const verdict = parts[part][0];
            values.set(verdict, (values.get(verdict) || 0) + sum[key]);
        }
        return values;
    }

    /* The first of the greatest, in the order of the rules. */
    function greatest(values) {
        let found = "none", most = 0;
        for (const [verdict] of parts)
            if ((values.get(verdict) || 0) > most)
                [found, most] = [verdict, values.get(verdict)];
        return found;
    }

    /* L2 or L3; null: too few samples. */
    function cacheLevel(sums, key) {
        const level = { L2: [0, 0, 0], L3: [0, 0, 0] };
        for (const [part, sum] of sums)
            if (level[detail(part)])
                level[detail(part)] = sum;
        if (level.L2[SAMPLES] + level.L3[SAMPLES] < limits.cacheSamples)
            return null;
        return level.L2[key] > level.L3[key] ? "L2" : "L3";
    }

    /* SUMS: by part. EVENT: the row's size of one stall. CYCLES: the chosen part of the run's
     * cycles; LOADS: what a sample's latency adds to the chosen cycles, null if unknown. */
    function judge(sums, event, cycles, loads) {
        const all = [0, 0, 0];
        let faulted = 0;
        for (const [part, sum] of sums) {
            if (part === FAULTS) {
                faulted = sum[STALLED];
                continue;
            }
            sum.forEach((value, i) => { all[i] += value; });
        }
        const ratio = (value) => value / 1e9 / cycles;
        const stalls = event > 0 && all[STALLED] / event >= limits.stalls;
        const known = event > 0 && (all[STALLED] > 0 || all[SAMPLES] >= limits.unstalled || ratio(highest(event)) < limits.hidden);
        const key = stalls ? STALLED : COST;
        const loadsStall = Math.max(0, ...byVerdict(sums, STALLED).values());
        if (ratio(faulted) >= limits.cost && faulted > loadsStall)
            return ["page-faults", null];
        if (all[SAMPLES] < limits.samples)
            return [all[SAMPLES] ? "too-few-samples" : "none", null];
        if ((loads !== null && all[COST] * loads < limits.cost) || (known && ratio(loadsStall) < limits.cost))
            return ["none", null];
        const verdict = greatest(byVerdict(sums, key));
        return [verdict, verdict === "cache" ? cacheLevel(sums, key) : null];
    }
    return { judge };
})();
