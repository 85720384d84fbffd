// The dumbbells S10 … S10k and the fat trees of `benches/src/lib.rs` for ns-3, so that both can be measured in the same minute. `benches/run.py`
// compiles it.
// usage: ns3-bench s10|s100|s1k|s10k|f8p|f8i|f16p|f16i SECONDS; prints {"packet_hops": N, "peak_rss_bytes": N}
//
// Routes of dumbbells are nix-vectors: with static routes, which are lists that a router searches for each packet, a thousand flows take half as
// long again. Either way a router looks at all of its links for each packet. Routes of fat trees are static, because all nix-vectors between two pods
// are one path.

#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

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

/// Links, each with a network of its own.
class Links
{
  public:
    /// Joins two nodes. The devices' own queues are the queues of the network, unless `marking` is a queue that marks.
    Ipv4InterfaceContainer Connect(PointToPointHelper& helper, Ptr<Node> from, Ptr<Node> to, TrafficControlHelper* marking = nullptr)
    {
        const NetDeviceContainer devices = helper.Install(from, to);
        if (marking)
        {
            marking->Install(devices);
        }
        const Ipv4InterfaceContainer ends = m_addresses.Assign(devices);
        if (!marking)
        {
            TrafficControlHelper().Uninstall(devices);
        }
        m_addresses.NewNetwork();
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Transmitted));
        }
        return ends;
    }

  private:
    Ipv4AddressHelper m_addresses{"10.0.0.0", "255.255.255.252"};
};

/// A flow that always has data to send.
void Send(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, Time start)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    sink.Install(to).Start(Seconds(0));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    bulk.SetAttribute("SendSize", UintegerValue(960));
    bulk.Install(from).Start(start);
}

/// `flows` flows over one bottleneck of 1 Mbit/s and one packet of buffer for each, which start within the first second.
void Dumbbell(uint32_t flows)
{
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

    Links links;
    links.Connect(bottleneck, routers.Get(0), routers.Get(1));
    for (uint32_t i = 0; i < flows; ++i)
    {
        links.Connect(access, senders.Get(i), routers.Get(0));
        const Ipv4Address to = links.Connect(access, routers.Get(1), receivers.Get(i)).GetAddress(1);
        Send(senders.Get(i), receivers.Get(i), to, 5001, Seconds(static_cast<double>(i) / flows));
    }
}

/// A fat tree of switches with `ports` ports; all links 1 Gbit/s and 10 µs, with queues of 100 packets. The route from an edge switch to a host is one
/// of the shortest, drawn once.
class FatTree
{
  public:
    FatTree(uint32_t ports, bool marks)
        : m_half(ports / 2),
          m_core(m_half * m_half),
          m_upper(ports * m_half),
          m_lower(ports * m_half),
          m_hosts(ports * m_half * m_half)
    {
        InternetStackHelper stack;
        Ipv4StaticRoutingHelper routing;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        for (const NodeContainer& nodes : {m_core, m_upper, m_lower, m_hosts})
        {
            stack.Install(nodes);
        }
        m_link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        m_link.SetChannelAttribute("Delay", StringValue("10us"));
        m_link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(marks ? "1p" : "100p"));
        // packets are marked while more than 20 wait
        m_marking.SetRootQueueDisc("ns3::RedQueueDisc",
                                   "MaxSize", StringValue("100p"),
                                   "MinTh", DoubleValue(20),
                                   "MaxTh", DoubleValue(20),
                                   "QW", DoubleValue(1),
                                   "LinkBandwidth", StringValue("1Gbps"),
                                   "LinkDelay", StringValue("10us"),
                                   "MeanPktSize", UintegerValue(1000),
                                   "UseEcn", BooleanValue(true),
                                   "UseHardDrop", BooleanValue(false));
        for (uint32_t pod = 0; pod < ports; ++pod)
        {
            for (uint32_t i = 0; i < m_half; ++i)
            {
                for (uint32_t j = 0; j < m_half; ++j)
                {
                    const Ptr<Node> lower = m_lower.Get(pod * m_half + i);
                    Connect(m_upper.Get(pod * m_half + i), m_core.Get(i * m_half + j), marks);
                    Connect(lower, m_upper.Get(pod * m_half + j), marks);
                    const Ptr<Node> host = m_hosts.Get((pod * m_half + i) * m_half + j);
                    m_addresses.push_back(Connect(host, lower, marks));
                    Static(host)->SetDefaultRoute(Ipv4Address::GetZero(), 1);
                }
            }
        }
    }

    uint32_t Hosts() const
    {
        return m_hosts.GetN();
    }

    /// A flow with routes for its packets and acknowledgements.
    void Flow(uint32_t from, uint32_t to, Time start)
    {
        Route(from, to);
        Route(to, from);
        Send(m_hosts.Get(from), m_hosts.Get(to), m_addresses[to], static_cast<uint16_t>(5001 + from), start);
    }

  private:
    static Ptr<Ipv4StaticRouting> Static(Ptr<Node> node)
    {
        return Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>());
    }

    /// Returns the address of the first.
    Ipv4Address Connect(Ptr<Node> one, Ptr<Node> other, bool marks)
    {
        const Ipv4InterfaceContainer ends = m_links.Connect(m_link, one, other, marks ? &m_marking : nullptr);
        m_interfaces[{one->GetId(), other->GetId()}] = ends.Get(0).second;
        m_interfaces[{other->GetId(), one->GetId()}] = ends.Get(1).second;
        return ends.GetAddress(0);
    }

    void Route(uint32_t from, uint32_t to)
    {
        const uint32_t first = from / m_half;
        const uint32_t last = to / m_half;
        const uint32_t core = m_draw() % (m_half * m_half);
        const auto upper = [&](uint32_t edge) { return m_upper.Get(edge / m_half * m_half + core / m_half); };
        if (first == last)
        {
            return;
        }
        Step(m_lower.Get(first), upper(first), to);
        if (first / m_half != last / m_half)
        {
            Step(upper(first), m_core.Get(core), to);
            Step(m_core.Get(core), upper(last), to);
        }
        Step(upper(last), m_lower.Get(last), to);
    }

    /// Packets to a host go from one node to the next, unless they already have a way.
    void Step(Ptr<Node> at, Ptr<Node> next, uint32_t to)
    {
        if (m_routed.insert({at->GetId(), to}).second)
        {
            Static(at)->AddHostRouteTo(m_addresses[to], m_interfaces.at({at->GetId(), next->GetId()}));
        }
    }

    uint32_t m_half;
    NodeContainer m_core;
    NodeContainer m_upper;
    NodeContainer m_lower;
    NodeContainer m_hosts;
    PointToPointHelper m_link;
    TrafficControlHelper m_marking;
    Links m_links;
    std::vector<Ipv4Address> m_addresses;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_interfaces;
    std::set<std::pair<uint32_t, uint32_t>> m_routed;
    std::minstd_rand m_draw{1};
};

/// Every host sends to the one half the network away.
void Permutation(uint32_t ports)
{
    FatTree tree(ports, false);
    for (uint32_t i = 0; i < tree.Hosts(); ++i)
    {
        tree.Flow(i, (i + tree.Hosts() / 2) % tree.Hosts(), Seconds(0));
    }
}

/// All hosts but one send to that one, with DCTCP.
void Incast(uint32_t ports)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    FatTree tree(ports, true);
    for (uint32_t i = 1; i < tree.Hosts(); ++i)
    {
        tree.Flow(i, 0, MicroSeconds(10 * i));
    }
}

} // namespace

int main(int argc, char* argv[])
{
    const std::map<std::string, std::pair<void (*)(uint32_t), uint32_t>> workloads{
        {"s10", {Dumbbell, 10}},
        {"s100", {Dumbbell, 100}},
        {"s1k", {Dumbbell, 1000}},
        {"s10k", {Dumbbell, 10'000}},
        {"f8p", {Permutation, 8}},
        {"f16p", {Permutation, 16}},
        {"f8i", {Incast, 8}},
        {"f16i", {Incast, 16}},
    };
    const auto workload = argc == 3 ? workloads.find(argv[1]) : workloads.end();
    if (workload == workloads.end())
    {
        std::cerr << "usage: ns3-bench s10|s100|s1k|s10k|f8p|f8i|f16p|f16i SECONDS\n";
        return 2;
    }

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(960));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    const auto [build, size] = workload->second;
    build(size);
    Simulator::Stop(Seconds(std::stod(argv[2])));
    Simulator::Run();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"packet_hops\": " << g_hops << ", \"peak_rss_bytes\": " << usage.ru_maxrss * 1024 << "}\n";
    return 0;
}
