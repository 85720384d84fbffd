# The workloads of `benches/src/lib.rs` for ns-2 2.35, so that both can be measured in the same minute.
# usage: ns ns2.tcl WORKLOAD SECONDS; prints {"packet_hops": N, "peak_rss_bytes": N}
lassign $argv workload seconds
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
if {$workload eq "w4"} { add-packet-header mcastCtrl CtrMcast }
if {$workload eq "w4"} { set sim [new Simulator -multicast on] } else { set sim [new Simulator] }
$sim use-scheduler Splay
if {$workload ne "w4"} { $sim rtproto Manual }

proc wire {from to rate delay packets} {
    global sim
    $sim duplex-link $from $to $rate $delay DropTail
    $sim queue-limit $from $to $packets
    $sim queue-limit $to $from $packets
}

# everything that `at` has no other way for goes to `via`
proc gateway {at via} {
    [$at get-module "Manual"] add-route-to-adj-node -default $via
}

proc datagrams {from rate start} {
    global sim seconds
    set udp [new Agent/UDP]
    $udp set packetSize_ 1000
    $sim attach-agent $from $udp
    set app [new Application/Traffic/CBR]
    $app set packetSize_ 1000
    $app set rate_ $rate
    $app attach-agent $udp
    $sim at $start "$app start"
    $sim at [expr {$start + $seconds}] "$app stop"
    return $udp
}

switch $workload {
    w1 - w2 - s10 - s100 - s1k - s10k {
        lassign [dict get {
            w1 {10 100Mb 100 0.01} w2 {1000 1000Mb 1000 0.01}
            s10 {10 10Mb 10 0.1} s100 {100 100Mb 100 0.01} s1k {1000 1000Mb 1000 0.001} s10k {10000 10000Mb 10000 0.0001}
        } $workload] count rate packets stagger
        set left [$sim node]; set right [$sim node]
        wire $left $right $rate 10ms $packets
        gateway $left $right; gateway $right $left
        Agent/TCP set window_ 100000
        Agent/TCP set windowInit_ 10
        Agent/TCP set packetSize_ 960
        Agent/TCP set tcpip_base_hdr_size_ 40
        Agent/TCP set minrto_ 0.2
        Agent/TCP set tcpTick_ 0.001
        Agent/TCPSink set packetSize_ 40
        for {set i 0} {$i < $count} {incr i} {
            set from [$sim node]; set to [$sim node]
            wire $from $left 1000Mb 1ms 10000
            wire $right $to 1000Mb 1ms 10000
            gateway $from $left; gateway $to $right
            [$left get-module "Manual"] add-route-to-adj-node $from
            [$right get-module "Manual"] add-route-to-adj-node $to
            set tcp($i) [new Agent/TCP/Newreno]
            set sink [new Agent/TCPSink]
            $sim attach-agent $from $tcp($i)
            $sim attach-agent $to $sink
            $sim connect $tcp($i) $sink
            set ftp [new Application/FTP]
            $ftp attach-agent $tcp($i)
            $sim at [expr {$stagger * $i}] "$ftp start"
        }
        # one link for every data packet, two more and three back for every one that is acknowledged
        proc hops {} {
            global tcp count
            set hops 0
            for {set i 0} {$i < $count} {incr i} {
                incr hops [expr {[$tcp($i) set ndatapack_] + 5 * [$tcp($i) set nackpack_]}]
            }
            return $hops
        }
        set end $seconds
    }
    f8p - f16p {
        set ports [dict get {f8p 8 f16p 16} $workload]
        set half [expr {$ports / 2}]
        set in_pod [expr {$half * $half}]
        set hosts [expr {$ports * $in_pod}]
        # the route to each host is one of the shortest from its only partner, drawn as a hash of flows would
        expr {srand(1)}
        Agent/TCP set window_ 100000
        Agent/TCP set windowInit_ 10
        Agent/TCP set packetSize_ 960
        Agent/TCP set tcpip_base_hdr_size_ 40
        Agent/TCP set minrto_ 0.2
        Agent/TCP set tcpTick_ 0.001
        Agent/TCPSink set packetSize_ 40
        for {set c 0} {$c < $in_pod} {incr c} { set core($c) [$sim node] }
        for {set pod 0} {$pod < $ports} {incr pod} {
            for {set i 0} {$i < $half} {incr i} {
                set upper($pod,$i) [$sim node]
                set lower($pod,$i) [$sim node]
                for {set j 0} {$j < $half} {incr j} { wire $upper($pod,$i) $core([expr {$half * $i + $j}]) 1000Mb 10us 100 }
            }
            for {set i 0} {$i < $half} {incr i} {
                for {set j 0} {$j < $half} {incr j} {
                    wire $lower($pod,$i) $upper($pod,$j) 1000Mb 10us 100
                    set host([expr {$in_pod * $pod + $half * $i + $j}]) [set node [$sim node]]
                    wire $node $lower($pod,$i) 1000Mb 10us 100
                    gateway $node $lower($pod,$i)
                    [$lower($pod,$i) get-module "Manual"] add-route-to-adj-node $node
                }
            }
        }
        proc route {at to via} {
            global sim
            [$at get-module "Manual"] add-route [$to set address_] [[$sim link $at $via] head]
        }
        for {set h 0} {$h < $hosts} {incr h} {
            set from [expr {($h + $hosts / 2) % $hosts}]
            set c [expr {int(rand() * $in_pod)}]
            set i [expr {$c / $half}]
            route $lower([expr {$from / $in_pod}],[expr {$from % $in_pod / $half}]) $host($h) $upper([expr {$from / $in_pod}],$i)
            route $upper([expr {$from / $in_pod}],$i) $host($h) $core($c)
            route $core($c) $host($h) $upper([expr {$h / $in_pod}],$i)
            route $upper([expr {$h / $in_pod}],$i) $host($h) $lower([expr {$h / $in_pod}],[expr {$h % $in_pod / $half}])
        }
        for {set h 0} {$h < $hosts} {incr h} {
            set tcp($h) [new Agent/TCP/Newreno]
            set sink [new Agent/TCPSink]
            $sim attach-agent $host($h) $tcp($h)
            $sim attach-agent $host([expr {($h + $hosts / 2) % $hosts}]) $sink
            $sim connect $tcp($h) $sink
            set ftp [new Application/FTP]
            $ftp attach-agent $tcp($h)
            $sim at 0 "$ftp start"
        }
        # six links there and six back for each packet that is acknowledged; those of lost packets are not counted
        proc hops {} {
            global tcp hosts
            set hops 0
            for {set h 0} {$h < $hosts} {incr h} { incr hops [expr {12 * [$tcp($h) set nackpack_]}] }
            return $hops
        }
        set end $seconds
    }
    w3 {
        for {set i 0} {$i <= 10} {incr i} { set node($i) [$sim node] }
        for {set i 0} {$i < 10} {incr i} {
            wire $node($i) $node([expr {$i + 1}]) 100Mb 1ms 100
            gateway $node($i) $node([expr {$i + 1}])
        }
        set sink [new Agent/LossMonitor]
        $sim attach-agent $node(10) $sink
        $sim connect [datagrams $node(0) 80Mb 0] $sink
        proc hops {} { global sink; return [expr {10 * [$sink set npkts_]}] }
        set end [expr {$seconds + 1}]
    }
    w4 {
        set source [$sim node]; set router [$sim node]
        wire $source $router 1Mb 5ms 100
        for {set i 0} {$i < 64} {incr i} {
            set leaf($i) [$sim node]
            wire $router $leaf($i) 1Mb 5ms 100
        }
        # the protocol is told of the nodes that exist when it is made
        set protocol [$sim mrtproto CtrMcast]
        $protocol set_c_rp $router
        set group [Node allocaddr]
        for {set i 0} {$i < 64} {incr i} {
            set sink($i) [new Agent/LossMonitor]
            $sim attach-agent $leaf($i) $sink($i)
            $sim at 0 "$leaf($i) join-group $sink($i) $group"
        }
        set udp [datagrams $source 0.8Mb 1]
        $udp set dst_addr_ $group
        $udp set dst_port_ 0
        $sim at 0.5 "$protocol switch-treetype $group"
        proc hops {} {
            global sink
            set packets 0
            for {set i 0} {$i < 64} {incr i} { incr packets [$sink($i) set npkts_] }
            return [expr {$packets + $packets / 64}]
        }
        set end [expr {$seconds + 2}]
    }
}

proc peak_rss_bytes {} {
    set status [open /proc/[pid]/status]
    regexp {VmHWM:\s+(\d+)} [read $status] all kilobytes
    close $status
    return [expr {1024 * $kilobytes}]
}

$sim at $end {puts "{\"packet_hops\": [hops], \"peak_rss_bytes\": [peak_rss_bytes]}"; exit 0}
$sim run
