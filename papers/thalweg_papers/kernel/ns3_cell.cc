// One cell of the grid in ns-3: TCP flows over one bottleneck. Prints one JSON object.
//
//     left ── router ── right
//
// The bottleneck is the link from the router to the right. A point-to-point device of ns-3 holds one packet beside the one that
// it transmits, so the queue discipline has one packet less than the limit. Its frames have 2 bytes of header and those of the
// kernel's grid 14: the rate is scaled so that a full packet takes the same time.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint16_t PORT = 5001;
constexpr uint32_t PAYLOAD = 1448;
constexpr double FRAME_B = 1514, FRAME_HERE_B = 1502;
constexpr uint32_t PACKET_B = 1500; // as queue disciplines of ns-3 count it

double g_warmup = 0;
std::unordered_map<uint64_t, std::pair<Time, uint16_t>> g_waiting; // by packet: arrival, source port
std::map<uint16_t, std::vector<double>> g_waits;                   // by source port, in seconds
std::map<uint16_t, uint64_t> g_received;                           // by source port, in bytes

void Arrived(Ptr<const QueueDiscItem> item)
{
    TcpHeader header;
    if (item->GetPacket()->PeekHeader(header) && header.GetDestinationPort() == PORT &&
        item->GetPacket()->GetSize() > header.GetSerializedSize())
    {
        g_waiting[item->GetPacket()->GetUid()] = {Simulator::Now(), header.GetSourcePort()};
    }
}

void Dropped(Ptr<const QueueDiscItem> item)
{
    g_waiting.erase(item->GetPacket()->GetUid());
}

void Departed(Ptr<const Packet> packet)
{
    const auto found = g_waiting.find(packet->GetUid());
    if (found == g_waiting.end())
    {
        return;
    }
    const auto [since, port] = found->second;
    g_waiting.erase(found);
    if (Simulator::Now().GetSeconds() >= g_warmup)
    {
        g_waits[port].push_back((Simulator::Now() - since).GetSeconds());
    }
}

void Received(Ptr<const Packet> packet, const Address& from)
{
    if (Simulator::Now().GetSeconds() >= g_warmup)
    {
        g_received[InetSocketAddress::ConvertFrom(from).GetPort()] += packet->GetSize();
    }
}

double Median(std::vector<double>& values)
{
    if (values.empty())
    {
        return 0;
    }
    std::sort(values.begin(), values.end());
    return values[(values.size() + 1) / 2 - 1];
}

uint64_t Drops(Ptr<QueueDisc> queue)
{
    return queue->GetStats().nTotalDroppedPackets;
}

} // namespace

int main(int argc, char* argv[])
{
    std::string queue, tcp, starts;
    double rate = 0, oneWay = 0, seconds = 0;
    uint32_t limit = 0, seed = 1;
    double redMin = 0, redMax = 0, redProbability = 0, redWeight = 0;
    CommandLine line;
    line.AddValue("queue", "queue discipline: fifo, codel, red, pie, fq_codel", queue);
    line.AddValue("tcp", "type of the congestion controller, such as ns3::TcpCubic", tcp);
    line.AddValue("rate", "rate of the bottleneck, bit/s", rate);
    line.AddValue("one-way", "propagation delay of the bottleneck, s", oneWay);
    line.AddValue("limit", "packets that wait at most", limit);
    line.AddValue("starts", "starts of the flows, s, separated by commas", starts);
    line.AddValue("warmup", "end of the warm-up, s", g_warmup);
    line.AddValue("seconds", "end of the run, s", seconds);
    line.AddValue("seed", "number of the run", seed);
    line.AddValue("red-min", "minimum threshold, packets", redMin);
    line.AddValue("red-max", "maximum threshold, packets", redMax);
    line.AddValue("red-probability", "maximum probability", redProbability);
    line.AddValue("red-weight", "weight of the average", redWeight);
    line.Parse(argc, argv);

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(tcp)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer nodes(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper edge;
    edge.SetDeviceAttribute("DataRate", DataRateValue(DataRate(10'000'000'000ULL)));
    edge.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    const NetDeviceContainer first = edge.Install(nodes.Get(0), nodes.Get(1));
    PointToPointHelper bottleneck;
    bottleneck.SetChannelAttribute("Delay", TimeValue(Seconds(oneWay)));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    const NetDeviceContainer second = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    const auto scaled = static_cast<uint64_t>(rate * FRAME_HERE_B / FRAME_B + 0.5);
    second.Get(0)->SetAttribute("DataRate", DataRateValue(DataRate(scaled)));
    second.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate(10'000'000'000ULL)));

    const QueueSize size(QueueSizeUnit::PACKETS, limit - 1);
    TrafficControlHelper control;
    if (queue == "fifo")
    {
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", QueueSizeValue(size));
    }
    else if (queue == "codel")
    {
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", QueueSizeValue(size));
    }
    else if (queue == "fq_codel")
    {
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", QueueSizeValue(size));
    }
    else if (queue == "pie")
    {
        // the kernel's target and interval; ns-3 has 20 ms for the target
        control.SetRootQueueDisc("ns3::PieQueueDisc",
                                 "MaxSize", QueueSizeValue(size),
                                 "QueueDelayReference", TimeValue(MilliSeconds(15)),
                                 "Tupdate", TimeValue(MilliSeconds(15)),
                                 "MeanPktSize", UintegerValue(PACKET_B));
    }
    else if (queue == "red")
    {
        control.SetRootQueueDisc("ns3::RedQueueDisc",
                                 "MaxSize", QueueSizeValue(size),
                                 "MinTh", DoubleValue(redMin),
                                 "MaxTh", DoubleValue(redMax),
                                 "LInterm", DoubleValue(1 / redProbability),
                                 "QW", DoubleValue(redWeight),
                                 "Gentle", BooleanValue(false),
                                 "MeanPktSize", UintegerValue(PACKET_B),
                                 "LinkBandwidth", DataRateValue(DataRate(scaled)),
                                 "LinkDelay", TimeValue(Seconds(oneWay)));
    }
    else
    {
        std::cerr << "no queue discipline " << queue << "\n";
        return 2;
    }
    Ptr<QueueDisc> disc = control.Install(second.Get(0)).Get(0);
    // the other devices have no queue discipline
    TrafficControlHelper none;
    none.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("10000p"));
    none.Install(first);
    none.Install(second.Get(1));

    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    addresses.Assign(first);
    addresses.SetBase("10.0.2.0", "255.255.255.0");
    const Ipv4InterfaceContainer ends = addresses.Assign(second);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    ApplicationContainer server = sink.Install(nodes.Get(2));
    server.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    std::istringstream times(starts);
    uint16_t flows = 0;
    for (std::string start; std::getline(times, start, ','); ++flows)
    {
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), PORT));
        source.SetAttribute("SendSize", UintegerValue(PAYLOAD));
        source.Install(nodes.Get(0)).Start(Seconds(std::stod(start)));
    }

    disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Arrived));
    disc->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    second.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Departed));

    uint64_t before = 0;
    Simulator::Schedule(Seconds(g_warmup), [&before, disc] { before = Drops(disc); });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    double total = 0, lowest = g_received.size() < flows ? 0 : 1e300, waited = 0;
    for (const auto& [port, bytes] : g_received)
    {
        const double goodput = 8.0 * static_cast<double>(bytes) / (seconds - g_warmup);
        total += goodput;
        lowest = std::min(lowest, goodput);
    }
    for (auto& [port, values] : g_waits)
    {
        waited += Median(values) / flows;
    }
    std::cout.precision(12);
    std::cout << "{\"goodput_bps\": " << total << ", \"lowest_bps\": " << lowest << ", \"queueing_s\": " << waited
              << ", \"drops\": " << Drops(disc) - before << ", \"marks\": 0}\n";
    Simulator::Destroy();
    return 0;
}
