# SPDX-License-Identifier: MIT
# memread.csv as a picture: latencies over the bandwidth that threads and delay make.
set datafile separator ','
set terminal svg size 900,700 font 'sans-serif,12' background '#ffffff'
set output 'memread.svg'
set multiplot layout 2,2 margins 0.08,0.985,0.09,0.93 spacing 0.1,0.15
set key top left horizontal maxcols 2
set grid lc rgb '#dddddd'
set xlabel 'DRAM bandwidth, GB/s'
set xrange [0:110]
set logscale y
set yrange [80:30000]
delays = '0 20 100 500 1000'
colour(i) = word('#000000 #0072b2 #d55e00 #009e73 #cc79a7', i)

# A colour for each delay, a point for each number of threads.
do for [mode in 'off on'] {
        do for [what in 'lmrl_cycles sampling_latency_cycles'] {
                set title (what eq 'lmrl_cycles' ? 'LMRL' : 'Sampling latency') . \
                        ', prefetching ' . mode
                set ylabel 'cycles'
                plot for [i = 1:words(delays)] 'memread.csv' \
                        using (strcol('prefetch') eq mode && \
                               column('delay_nops') == int(word(delays, i)) ? \
                               column('bandwidth_gbs') : NaN):(column(what)) \
                        with points pt 7 ps 0.6 lc rgb colour(i) \
                        title 'delay ' . word(delays, i)
        }
}
unset multiplot
