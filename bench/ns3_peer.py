"""Saturated stations in ns-3, through its Python bindings: a script that needs nothing of this project.

``python ns3_peer.py 11g 20 4`` prints, as one JSON object, the throughput of 20 stations that send UDP packets of 1472
bytes (MPDUs of 1536) to one access point for 4 s, and the processor time that this took without building the cell.
``python ns3_peer.py 11n 20 4 65535`` has frames go together (MPDUs of 1538) in A-MPDUs of at most so many bytes, with
the defaults of ns-3: stations contend in the class best effort, and ask with a block-ACK request about what was not
answered.  With ``dcf`` behind, they contend as DCF does and send it again at once.
"""

import json
import sys
import time

PAYLOAD_BYTES = 1472
WARM_UP_S = 2.0
MODES = {  # standard, rate of data, rate of answers, what is offered in Mb/s: so much that no station runs out
    "11g": ("WIFI_STANDARD_80211g", "ErpOfdmRate54Mbps", "ErpOfdmRate24Mbps", 36.0),
    "11b": ("WIFI_STANDARD_80211b", "DsssRate11Mbps", "DsssRate2Mbps", 8.0),
    "11n": ("WIFI_STANDARD_80211n", "HtMcs7", "ErpOfdmRate24Mbps", 240.0),
    "11ax": ("WIFI_STANDARD_80211ax", "HeMcs7", "OfdmRate24Mbps", 330.0),
}


def saturated(kind, n, seconds, max_ampdu_bytes=0, *, dcf=False):
    """Return the throughput of n saturated stations, Mb/s, and the processor seconds of the run."""
    from ns import ns

    standard, data, control, offered_mbps = MODES[kind]
    import os

    ns.RngSeedManager.SetRun(int(os.environ.get("RUN", "1")))
    ns.Config.SetDefault("ns3::WifiMacQueue::MaxDelay", ns.TimeValue(ns.Seconds(100.0)))
    stations, access_point = ns.NodeContainer(), ns.NodeContainer()
    stations.Create(n)
    access_point.Create(1)
    phy = ns.YansWifiPhyHelper()
    is_qos = kind in ("11n", "11ax")
    if is_qos:
        band = "BAND_2_4GHZ" if kind == "11n" else "BAND_5GHZ"
        phy.Set("ChannelSettings", ns.StringValue(f"{{0, 20, {band}, 0}}"))
    phy.SetChannel(ns.YansWifiChannelHelper.Default().Create())
    wifi, mac = ns.WifiHelper(), ns.WifiMacHelper()
    wifi.SetStandard(getattr(ns, standard))
    rates = ("DataMode", ns.StringValue(data), "ControlMode", ns.StringValue(control))
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", *rates)
    common = ("Ssid", ns.SsidValue(ns.Ssid("bench")), "QosSupported", ns.BooleanValue(is_qos))
    common += ("BE_MaxAmpduSize", ns.UintegerValue(max_ampdu_bytes))
    mac.SetType("ns3::StaWifiMac", *common)
    devices = wifi.Install(phy, mac, stations)
    mac.SetType("ns3::ApWifiMac", *common)
    of_access_point = wifi.Install(phy, mac, access_point)
    if kind == "11ax":
        he = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/HeConfiguration/GuardInterval"
        ns.Config.Set(he, ns.TimeValue(ns.NanoSeconds(800)))
    if dcf:
        queue = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Mac/$ns3::WifiMac/BE_Txop/$ns3::QosTxop/"
        ns.Config.Set(queue + "Aifsns", ns.StringValue("2"))
        ns.Config.Set(queue + "UseExplicitBarAfterMissedBlockAck", ns.BooleanValue(False))
    mobility, internet, addresses = ns.MobilityHelper(), ns.InternetStackHelper(), ns.Ipv4AddressHelper()
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
    for nodes in (stations, access_point):
        mobility.Install(nodes)
        internet.Install(nodes)
    addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
    server_address = addresses.Assign(of_access_point).GetAddress(0)
    addresses.Assign(devices)
    sink = ns.UdpServerHelper(9).Install(access_point.Get(0)).Get(0)
    client = ns.UdpClientHelper(server_address.ConvertTo(), 9)
    client.SetAttribute("MaxPackets", ns.UintegerValue(4_000_000_000))
    client.SetAttribute("PacketSize", ns.UintegerValue(PAYLOAD_BYTES))
    interval_s = 8e-6 * PAYLOAD_BYTES * n / offered_mbps
    for number in range(n):
        client.SetAttribute("Interval", ns.TimeValue(ns.Seconds(interval_s * (1 + 0.001 * number))))
        client.Install(stations.Get(number)).Start(ns.Seconds(0.5 + 0.003 * number))
    ns.Simulator.Stop(ns.Seconds(WARM_UP_S))
    ns.Simulator.Run()
    before, begin = sink.GetReceived(), time.process_time()
    ns.Simulator.Stop(ns.Seconds(float(seconds)))
    ns.Simulator.Run()
    taken_s = time.process_time() - begin
    mbps = 8e-6 * PAYLOAD_BYTES * (sink.GetReceived() - before) / seconds
    ns.Simulator.Destroy()
    return {"throughput_mbps": mbps, "processor_s": taken_s}


if __name__ == "__main__":
    numbers, dcf = [one for one in sys.argv[2:] if one != "dcf"], "dcf" in sys.argv
    print(json.dumps(saturated(sys.argv[1], int(numbers[0]), float(numbers[1]), *map(int, numbers[2:]), dcf=dcf)))
