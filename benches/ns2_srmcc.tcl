# Scenario 1 of the SRMCC paper without its multicast group, for ns-2 2.35: two TCP connections, alone or beside random traffic that takes
# what a group would.
# usage: ns ns2_srmcc.tcl TCP COMPANY SEED
#   TCP      stock: Agent/TCP with all defaults but the packet, which has 1000 bytes on the wire as in Table 1
#            tahoe, newreno: without a limit by the window
#   COMPANY  mean rate of Poisson traffic in bit/s, 0 for none
# Prints one JSON object: throughput of both connections and utilisation over 50-200 s, drops of the whole run. The defaults that
# matter are printed as well, as this ns-2 has them.
lassign $argv tcp company seed
set seconds 200
set from 50
ns-random $seed

set sim [new Simulator]
set r0 [$sim node]
set r1 [$sim node]
proc wire {a b rate delay} {
    global sim
    $sim duplex-link $a $b $rate $delay DropTail
    $sim queue-limit $a $b 50
    $sim queue-limit $b $a 50
}
wire $r0 $r1 5Mb 20ms
set queue [$sim monitor-queue $r0 $r1 ""]

proc host {router rate delay} {
    global sim
    set node [$sim node]
    wire $node $router $rate $delay
    return $node
}

set uniform [new RandomVariable/Uniform]
$uniform set min_ 0
$uniform set max_ 0.5

set kind [expr {$tcp eq "newreno" ? "Agent/TCP/Newreno" : "Agent/TCP"}]
foreach i {1 2} {
    set sender($i) [new $kind]
    # 40 bytes of headers come on top
    $sender($i) set packetSize_ 960
    if {$tcp ne "stock"} { $sender($i) set window_ 100000 }
    set sink($i) [new Agent/TCPSink]
    $sim attach-agent [host $r0 100Mb 2ms] $sender($i)
    $sim attach-agent [host $r1 10Mb 3ms] $sink($i)
    $sim connect $sender($i) $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $sender($i)
    $sim at [$uniform value] "$ftp start"
}
if {$company > 0} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 1000
    set null [new Agent/Null]
    $sim attach-agent [host $r0 100Mb 2ms] $udp
    $sim attach-agent [host $r1 10Mb 3ms] $null
    $sim connect $udp $null
    # bursts of no length have one packet each: a Poisson process
    set poisson [new Application/Traffic/Exponential]
    $poisson set packetSize_ 1000
    $poisson set burst_time_ 0
    $poisson set rate_ 100Gb
    $poisson set idle_time_ [expr {8000.0 / $company}]
    $poisson attach-agent $udp
    $sim at 0 "$poisson start"
}

proc note {} {
    global sink queue before
    foreach i {1 2} { set before($i) [acked $i] }
    set before(bytes) [$queue set bdepartures_]
}
proc acked {i} {
    global sender
    return [expr {[$sender($i) set ack_] + 1}]
}
proc report {} {
    global sender queue before seconds from tcp company seed
    set span [expr {double($seconds - $from)}]
    foreach i {1 2} { set mbps($i) [expr {([acked $i] - $before($i)) * 8000 / $span / 1e6}] }
    set used [expr {([$queue set bdepartures_] - $before(bytes)) * 8 / $span / 5e6}]
    puts [format {{"tcp": "%s", "company_bps": %s, "seed": %s, "tcp1_mbps": %.4f, "tcp2_mbps": %.4f, "utilisation": %.4f, "drops": %d, "window": %s, "initial_window": %s, "min_rto_s": %s, "initial_rto_s": %s, "limited_transmit": %s}} \
        $tcp $company $seed $mbps(1) $mbps(2) $used [$queue set pdrops_] \
        [$sender(1) set window_] [$sender(1) set windowInit_] [Agent/TCP set minrto_] [Agent/TCP set rtxcur_init_] [Agent/TCP set singledup_]]
    exit 0
}
$sim at $from note
$sim at $seconds report
$sim run
