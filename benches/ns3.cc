// The dumbbells S10 … S10k of `benches/src/lib.rs` for ns-3, so that both can be measured in the same minute. `benches/run.py` compiles it.
// usage: ns3-bench FLOWS SECONDS; prints {"packet_hops": N, "peak_rss_bytes": N}
//
// Routes are nix-vectors: with static routes, which are lists that a router searches for each packet, a thousand flows take half as long again.
// Either way a router looks at all of its links for each packet.

#include <cstdint>
#include <iostream>
#include <string>

#include <sys/resource.h>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

uint64_t g_hops = 0;

void Transmitted(Ptr<const Packet>)
{
    ++g_hops;
}

} // namespace

int main(int argc, char* argv[])
{
    if (argc != 3)
    {
        std::cerr << "usage: ns3-bench FLOWS SECONDS\n";
        return 2;
    }
    const auto flows = static_cast<uint32_t>(std::stoul(argv[1]));
    const double seconds = std::stod(argv[2]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(960));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    NodeContainer routers(2);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(routers);
    stack.Install(senders);
    stack.Install(receivers);

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(1'000'000ULL * flows)));
    bottleneck.SetChannelAttribute("Delay", StringValue("10ms"));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, flows)));
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));

    // the devices' own queues are the queues of the network
    TrafficControlHelper none;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    const auto connect = [&](PointToPointHelper& helper, Ptr<Node> from, Ptr<Node> to) {
        const NetDeviceContainer devices = helper.Install(from, to);
        const Ipv4InterfaceContainer ends = addresses.Assign(devices);
        none.Uninstall(devices);
        addresses.NewNetwork();
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Transmitted));
        }
        return ends.GetAddress(1);
    };
    connect(bottleneck, routers.Get(0), routers.Get(1));
    for (uint32_t i = 0; i < flows; ++i)
    {
        connect(access, senders.Get(i), routers.Get(0));
        const Ipv4Address to = connect(access, routers.Get(1), receivers.Get(i));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(to, 5001));
        sink.Install(receivers.Get(i)).Start(Seconds(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, 5001));
        bulk.SetAttribute("SendSize", UintegerValue(960));
        bulk.Install(senders.Get(i)).Start(Seconds(static_cast<double>(i) / flows));
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"packet_hops\": " << g_hops << ", \"peak_rss_bytes\": " << usage.ru_maxrss * 1024 << "}\n";
    return 0;
}
