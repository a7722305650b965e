# SPDX-License-Identifier: MIT
# regions.csv as a picture: which level serves the loads, over the size of the buffer.
set datafile separator ','
set terminal svg size 900,560 font 'sans-serif,12' background '#ffffff'
set output 'regions.svg'
set multiplot layout 2,3 margins 0.07,0.985,0.1,0.93 spacing 0.05,0.15
set key at graph 0.73,0.5 right center samplen 2
set grid lc rgb '#dddddd'
set logscale x 2
set xtics ('8 KiB' 8, '32' 32, '256' 256, '5 MiB' 5120, '32' 32768)
set xrange [8:32768]
set yrange [-0.02:1.05]
titles = '"random, small blocks" "random, large blocks" "sequential"'
colour(i) = word('#009e73 #0072b2 #e69f00 #000000', i)

# As the paper has its regions: strides of 64 above, of 128 below.
do for [stride in '64 128'] {
        do for [order = 1:3] {
                region = 2 * order - (stride eq '64')
                set title word(titles, order) . ', stride ' . stride
                set ylabel (order == 1 ? 'part of the loads' : '')
                plot for [level in 'L1 L2 L3 DRAM'] 'regions.csv' \
                        using (column('region') == region ? column('buffer_kib') : NaN) \
                        :(column(level)) with linespoints pt 7 ps 0.4 \
                        lc rgb colour(level eq 'L1' ? 1 : level eq 'L2' ? 2 : \
                                      level eq 'L3' ? 3 : 4) title level
        }
}
unset multiplot
