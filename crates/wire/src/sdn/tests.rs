use contract::{Label, NameId, PortId, Share, Status, Traffic};
use proptest::prelude::*;

use super::*;
use crate::reader::MAX;
use crate::testing::{at, hex};

fn message(message: &ControlMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write(&mut bytes);
    bytes
}

fn encoded(task: &Task) -> Vec<u8> {
    let mut bytes = Vec::new();
    task.write(&mut bytes);
    bytes
}

/// The examples of the reference page.
#[test]
fn messages_of_a_controller_and_its_agents_are_what_the_reference_says() {
    let number = |number| Label([number, 0, 0, 0]);
    let hops = Hops::new(&[Hop { port: PortId(4), cost: 3 }, Hop { port: PortId(2), cost: 9 }]);
    let frame = Control::Command(contract::Command::NextHops { prefix: NameId(1), hops });
    let messages = ControlMessage { sent_at: at(77), label: number(10), frame };
    let expected =
        hex("000000000000004d  000000000000000a 0000000000000000 0000000000000000 0000000000000000
         03  00 00000001 02  00000004 00000003  00000002 00000009");
    assert_eq!(message(&messages), expected);
    assert_eq!(ControlMessage::read(&expected), Ok(messages));

    let status = Status {
        port: PortId(3),
        rate: Rate::from_mbps(10),
        load: 870_000,
        occupancy: 6000,
        backlog: 3,
        shares: 1,
    };
    let label = Share::pack(&[Share { what: Traffic::Prefix(NameId(1)), bytes: 500_000 }]);
    let messages = ControlMessage { sent_at: at(77), label, frame: Control::Status(status) };
    let expected =
        hex("000000000000004d  000000010007a120 0000000000000000 0000000000000000 0000000000000000
         00  00000003 0000000000989680 000d4670 00001770 00000003 0001");
    assert_eq!(message(&messages), expected);
    assert_eq!(ControlMessage::read(&expected), Ok(messages));

    let task = Task {
        period: Duration::from_nanos(500),
        phase: Duration::from_nanos(0),
        signal_above: Some(850_000),
        detection: None,
        ports: vec![(PortId(2), "first".to_owned())],
        prefixes: vec![Prefix {
            id: NameId(1),
            name: "/film".parse().expect("a name"),
            hops: vec![Hop { port: PortId(2), cost: 20 }],
        }],
    };
    assert!(task.fits());
    let expected = hex("01 00000000000001f4 0000000000000000 000cf850
         0001  00000002 05 6669727374
         0001  00000001 0006 0804 66696c6d  01 00000002 00000014");
    assert_eq!(encoded(&task), expected);
    assert_eq!(Task::read(&expected), Ok(task));

    let attach = Attach { instance: [7; INSTANCE], node: "r1".to_owned() };
    let expected = hex("07070707070707070707070707070707 02 7231");
    let mut bytes = Vec::new();
    attach.write(&mut bytes);
    assert_eq!(bytes, expected);
    assert_eq!(Attach::read(&expected), Ok(attach));
}

#[test]
fn control_messages_with_numbers_out_of_range_are_refused() {
    let frame = Control::Shares { port: PortId(3), count: 5 };
    let messages = |frame| ControlMessage { sent_at: at(1), label: Label::default(), frame };
    let bytes = |frame| message(&messages(frame));
    assert_eq!(ControlMessage::read(&bytes(frame)), Err(Malformed::Value));
    let hops = Hops::new(&[Hop { port: PortId(4), cost: 3 }]);
    let mut command =
        bytes(Control::Command(contract::Command::NextHops { prefix: NameId(Prefix::NUMBERS), hops }));
    assert_eq!(
        ControlMessage::read(&command),
        Err(Malformed::Value),
        "the number of a prefix is the number of a node"
    );
    // more next hops than a command holds
    let count = 8 + 32 + 1 + 1 + 4;
    command[count - 4] = 0;
    assert!(ControlMessage::read(&command).is_ok());
    command[count] = 5;
    assert_eq!(ControlMessage::read(&command), Err(Malformed::Length));
    let task = Task {
        period: Duration::ZERO,
        phase: Duration::ZERO,
        signal_above: None,
        detection: None,
        ports: Vec::new(),
        prefixes: Vec::new(),
    };
    assert_eq!(Task::read(&encoded(&task)), Err(Malformed::Value), "a period takes time");
    let period = Duration::from_nanos(1);
    let task = Task { period, detection: Some(Duration::ZERO), ..task };
    assert_eq!(Task::read(&encoded(&task)), Err(Malformed::Value), "and so does a detection period");
    let mut bytes = encoded(&Task { detection: None, ..task });
    bytes[0] = 4;
    assert_eq!(Task::read(&bytes), Err(Malformed::Flags));
}

/// Names of nodes become part of messages for users.
#[test]
fn names_with_control_characters_are_refused() {
    for name in ["r\x1b]0;owned\x07", "r\nerror: x", "r\u{9b}2J", "r\u{202e}"] {
        let mut bytes = Vec::new();
        Attach { instance: [0; INSTANCE], node: name.to_owned() }.write(&mut bytes);
        assert_eq!(Attach::read(&bytes), Err(Malformed::Text), "{name:?}");
    }
}

fn hop() -> impl Strategy<Value = Hop> {
    (0..u32::MAX, any::<u32>()).prop_map(|(port, cost)| Hop { port: PortId(port), cost })
}

fn sdn_command() -> impl Strategy<Value = contract::Command> {
    use contract::Command;
    let hops = proptest::collection::vec(hop(), 0..=Hops::MAX);
    prop_oneof![
        (0..Prefix::NUMBERS, hops)
            .prop_map(|(prefix, hops)| Command::NextHops { prefix: NameId(prefix), hops: Hops::new(&hops) }),
        any::<(u32, u32)>().prop_map(|(to, via)| Command::Route { to: NodeId(to), via: PortId(via) }),
        any::<(u32, u32, u32)>().prop_map(|(port, limit, mark_above)| Command::Queue {
            port: PortId(port),
            limit,
            mark_above
        }),
        any::<(u32, u64)>()
            .prop_map(|(port, bps)| Command::Cap { port: PortId(port), rate: Rate::from_bps(bps) }),
    ]
}

fn control_message() -> impl Strategy<Value = ControlMessage> {
    let status = any::<(u32, u64, [u32; 3], u16)>().prop_map(|(port, bps, numbers, shares)| {
        let [load, occupancy, backlog] = numbers;
        let (port, rate) = (PortId(port), Rate::from_bps(bps));
        Control::Status(Status { port, rate, load, occupancy, backlog, shares })
    });
    let frame = prop_oneof![
        status,
        (any::<u32>(), 0..=4u8).prop_map(|(port, count)| Control::Shares { port: PortId(port), count }),
        any::<u32>().prop_map(|port| Control::Signal { port: PortId(port) }),
        sdn_command().prop_map(Control::Command),
        Just(Control::Ack),
        Just(Control::Hello),
        sdn_command().prop_map(Control::Installed),
        any::<u32>().prop_map(|installed| Control::StateComplete { installed }),
    ];
    (0..MAX, any::<[u64; 4]>(), frame).prop_map(|(sent_at, label, frame)| ControlMessage {
        sent_at: at(sent_at),
        label: Label(label),
        frame,
    })
}

fn task() -> impl Strategy<Value = Task> {
    let ports = proptest::collection::vec((any::<u32>().prop_map(PortId), "[a-z0-9 ]{0,20}"), 0..6);
    let name = proptest::collection::vec("[a-z]{1,8}", 0..4);
    let prefix = (0..Prefix::NUMBERS, name, proptest::collection::vec(hop(), 0..6)).prop_map(
        |(id, components, hops)| {
            let name = format!("/{}", components.join("/")).parse().expect("a name");
            Prefix { id: NameId(id), name, hops }
        },
    );
    let prefixes = proptest::collection::vec(prefix, 0..6);
    let detection = proptest::option::of(1..MAX);
    (1..MAX, 0..MAX, any::<Option<u32>>(), detection, ports, prefixes).prop_map(
        |(period, phase, signal_above, detection, ports, prefixes)| Task {
            period: Duration::from_nanos(period),
            phase: Duration::from_nanos(phase),
            signal_above,
            detection: detection.map(Duration::from_nanos),
            ports,
            prefixes,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(messages in control_message(), task in task(), instance in any::<[u8; INSTANCE]>(), node in "[a-z0-9]{0,20}") {
        prop_assert_eq!(ControlMessage::read(&message(&messages)), Ok(messages));
        prop_assert_eq!(Task::read(&encoded(&task)), Ok(task));
        let attach = Attach { instance, node };
        let mut bytes = Vec::new();
        attach.write(&mut bytes);
        prop_assert!(bytes.len() <= Attach::LONGEST);
        prop_assert_eq!(Attach::read(&bytes), Ok(attach));
    }

    #[test]
    fn changed_bytes_are_read_or_refused(messages in control_message(), task in task(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        for mut bytes in [message(&messages), encoded(&task)] {
            for (place, value) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *value;
            }
            for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
                let _ = Attach::read(bytes);
                if let Ok(messages) = ControlMessage::read(bytes) {
                    prop_assert_eq!(ControlMessage::read(&message(&messages)), Ok(messages));
                }
                if let Ok(task) = Task::read(bytes) {
                    prop_assert_eq!(Task::read(&encoded(&task)), Ok(task));
                }
            }
        }
    }
}
