//! Messages of the southbound channel: arbitrary bytes are decoded or refused, and decoded messages are encoded and
//! decoded again to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::sdn::{Attach, ControlMessage, Task};

fuzz_target!(|bytes: &[u8]| {
    let mut written = Vec::new();
    if let Ok(attach) = Attach::read(bytes) {
        attach.write(&mut written);
        assert_eq!(written, bytes);
    }
    if let Ok(message) = ControlMessage::read(bytes) {
        written.clear();
        message.write(&mut written);
        assert_eq!(ControlMessage::read(&written), Ok(message));
    }
    if let Ok(task) = Task::read(bytes) {
        written.clear();
        task.write(&mut written);
        assert_eq!(written, bytes);
    }
});
