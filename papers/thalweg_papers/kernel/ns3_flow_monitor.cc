// Datagrams of a packet record in ns-3, measured by its FlowMonitor. Prints one JSON array with an object per flow.
//
//     node 0 ── node 1 ── … ── node n
//
// Every link is a point-to-point link with a drop-tail queue at its device. Datagrams leave at the times that a file lists, and
// the packets that another file lists by their order at the end of a link are lost there. FlowMonitor counts packets of IP: its
// bytes have no header of the link, which is 2 bytes.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint16_t PORT = 9000;
constexpr uint32_t HEADERS_B = 30; // UDP 8, IP 20, point-to-point 2

void Send(Ptr<Socket> socket, uint32_t size)
{
    socket->Send(Create<Packet>(size - HEADERS_B));
}

void Ignore(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
    }
}

} // namespace

int main(int argc, char* argv[])
{
    std::string links, flows, sends, losses;
    double seconds = 0;
    CommandLine line;
    line.AddValue("links", "rate in bit/s, delay in ns and limit in packets of each link: 10000000,5000000,50;…", links);
    line.AddValue("flows", "first and last node of each flow: 0,2;1,2", flows);
    line.AddValue("sends", "file: time in ns, flow and size in bytes of each datagram", sends);
    line.AddValue("losses", "file: link and number of each packet that is lost at the end of it", losses);
    line.AddValue("seconds", "end of the run, s", seconds);
    line.Parse(argc, argv);
    Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", BooleanValue(false));

    struct Link
    {
        uint64_t rate, delay;
        uint32_t limit;
    };
    std::vector<Link> listed;
    std::istringstream of_links(links);
    for (std::string item; std::getline(of_links, item, ';');)
    {
        Link link{};
        char comma;
        std::istringstream(item) >> link.rate >> comma >> link.delay >> comma >> link.limit;
        listed.push_back(link);
    }

    NodeContainer nodes;
    nodes.Create(listed.size() + 1);
    InternetStackHelper().Install(nodes);
    std::vector<Ipv4Address> addresses(nodes.GetN());
    std::vector<NetDeviceContainer> devices;
    Ipv4AddressHelper numbering("10.0.0.0", "255.255.255.0");
    for (std::size_t place = 0; place < listed.size(); ++place)
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(listed[place].rate)));
        wire.SetDeviceAttribute("Mtu", UintegerValue(9000));
        wire.SetChannelAttribute("Delay", TimeValue(NanoSeconds(listed[place].delay)));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, listed[place].limit)));
        devices.push_back(wire.Install(nodes.Get(place), nodes.Get(place + 1)));
        const auto interfaces = numbering.Assign(devices.back());
        TrafficControlHelper().Uninstall(devices.back());
        addresses[place] = place == 0 ? interfaces.GetAddress(0) : addresses[place];
        addresses[place + 1] = interfaces.GetAddress(1);
        numbering.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<Ptr<Socket>> sockets;
    std::istringstream of_flows(flows);
    for (std::string item; std::getline(of_flows, item, ';');)
    {
        uint32_t from = 0, to = 0;
        char comma;
        std::istringstream(item) >> from >> comma >> to;
        const auto port = static_cast<uint16_t>(PORT + sockets.size());
        auto sink = Socket::CreateSocket(nodes.Get(to), UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback(MakeCallback(&Ignore));
        auto source = Socket::CreateSocket(nodes.Get(from), UdpSocketFactory::GetTypeId());
        source->Bind();
        source->Connect(InetSocketAddress(addresses[to], port));
        sockets.push_back(source);
    }
    std::ifstream of_sends(sends);
    int64_t at = 0;
    uint32_t flow = 0, size = 0;
    while (of_sends >> at >> flow >> size)
    {
        Simulator::Schedule(NanoSeconds(at), &Send, sockets[flow], size);
    }
    std::map<uint32_t, std::list<uint32_t>> lost;
    std::ifstream of_losses(losses);
    uint32_t place = 0, number = 0;
    while (of_losses >> place >> number)
    {
        lost[place].push_back(number);
    }
    for (const auto& [link, numbers] : lost)
    {
        auto model = CreateObject<ReceiveListErrorModel>();
        model->SetList(numbers);
        devices[link].Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }

    FlowMonitorHelper helper;
    auto monitor = helper.InstallAll();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    monitor->CheckForLostPackets(Seconds(0));
    const auto classifier = DynamicCast<Ipv4FlowClassifier>(helper.GetClassifier());
    std::cout.precision(17);
    std::cout << "[";
    std::string separator;
    for (const auto& [id, stats] : monitor->GetFlowStats())
    {
        std::cout << separator << "{\"flow\": " << classifier->FindFlow(id).destinationPort - PORT
                  << ", \"tx_packets\": " << stats.txPackets << ", \"rx_packets\": " << stats.rxPackets
                  << ", \"tx_bytes\": " << stats.txBytes << ", \"rx_bytes\": " << stats.rxBytes
                  << ", \"lost_packets\": " << stats.lostPackets << ", \"delay_ns\": " << stats.delaySum.GetNanoSeconds()
                  << ", \"hops\": " << stats.timesForwarded << "}";
        separator = ", ";
    }
    std::cout << "]\n";
    Simulator::Destroy();
    return 0;
}
