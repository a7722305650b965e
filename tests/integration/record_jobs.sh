#!/bin/sh
# SPDX-License-Identifier: MIT
# Parallel jobs: each rank records a separate file, by a launcher's variables and by an MPI job,
# which ends as without memlag.
. "$SOURCE_DIR/tests/integration/library.sh"

unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID MV2_COMM_WORLD_RANK SLURM_STEP_NUM_TASKS

# ---- the names of files ----
SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3 "$MEMLAG" record --source sim -- true 2>err
[ -e memlag.3.db ] && [ ! -e memlag.db ] || fail "no file of rank 3: $(ls)"
[ "$(grep -c 'rank 3.*memlag\.3\.db' err)" = 1 ] || fail "no word on the rank: $(cat err)"
SLURM_PROCID=3 "$MEMLAG" record --source sim -o '%r-%h-%%.db' -- true 2>err
[ -e "3-$(uname -n)-%.db" ] || fail "no file by patterns: $(ls)"
! grep -q 'rank 3' err || fail "who named the file was told of it: $(cat err)"
SLURM_PROCID=0 "$MEMLAG" record --source sim -- true 2>err # a batch script
[ -e memlag.db ] && [ ! -e memlag.0.db ] || fail "a batch script is a rank: $(ls)"
"$MEMLAG" record --source sim -o 'p%p.db' -- true 2>err &
recorder=$!
wait $recorder
[ -e p$recorder.db ] || fail "no file by memlag's number: $(ls)"
for pattern in '%r.db' '%x.db' 'a%'; do
        ends 2 "$MEMLAG" record --source sim -o "$pattern" -- touch ran
done
[ ! -e ran ] || fail "a command ran whose file has no name"

has mpirun && has mpicc || exit 77

# ---- a job: rank 0 works, the others wait for it ----
cat >app.c <<'EOT'
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static volatile char field[1 << 22];
static void work(long rounds)
{
        for (long i = 0; i < rounds; i++)
                field[i * 4099 % sizeof(field)]++;
}
int main(int argc, char **argv)
{
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        /* For some times as long as it took to begin, on a busy machine too. */
        clock_t begun = clock();
        if (rank == 0)
                do
                        work(atol(argv[1]));
                while (argc > 3 && clock() < 6 * begun);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return atoi(argv[2]);
}
EOT
mpicc -O1 -g -o app app.c
mpi()
{
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
                mpirun --oversubscribe -n 2 "$@"
}
for source in sim clock; do
        rounds=3000000 long=
        [ $source = sim ] || long=long
        rm -f memlag.[01].db
        mpi "$MEMLAG" record --source $source -- ./app $rounds 0 $long >out 2>err ||
                fail "$source: the job failed: $(cat err)"
        for rank in 0 1; do
                holds memlag.$rank.db complete "SELECT value FROM run WHERE key = 'state'"
        done
        holds memlag.0.db 1 "SELECT count(*) > 20 FROM sample_view WHERE function = 'work'"
        holds memlag.1.db 0 "SELECT count(*) FROM sample_view WHERE function = 'work'"
        # If samples measure time, the report calls the waits of a rank waiting.
        [ $source = sim ] ||
                [ "$(for rank in 0 1; do
                        answer memlag.$rank.db "SELECT total(sample_ratio) > 0.5 FROM library_view
                                             WHERE library = 'MPI'"
                done | tr -d '\n')" = 01 ] || fail "rank 1 does not wait, or rank 0 does"
        [ $source = sim ] || "$MEMLAG" report --summary memlag.1.db | grep -q 'libraries of MPI' ||
                fail "the first lines do not tell of MPI"
        ends 3 mpi "$MEMLAG" record --source $source -o "$source.%r.db" -- ./app 10 3 >out
        [ -e $source.0.db ] && [ -e $source.1.db ] || fail "$source: no file by -o: $(ls)"
done
