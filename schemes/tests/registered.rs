//! Schemes that a program registers at run time.

use contract::{EcnFeedback, EcnUse, Need, Scheme};
use schemes::{Entry, NameTaken, catalogue, ecn_use, find, register};

#[test]
fn a_registered_scheme_is_in_the_catalogue_and_can_be_replaced() {
    let aimd = find("aimd").expect("it is built in");
    assert_eq!(register(aimd), Err(NameTaken));
    let named = |title, needs| Entry { scheme: Scheme { name: "mine", title, needs, ..aimd.scheme }, ..aimd };
    assert!(find("mine").is_none());
    let before = catalogue().len();
    const ACCURATE: EcnUse = EcnUse { feedback: EcnFeedback::Accurate, l4s: false };
    assert_eq!(register(named("first", &[])), Ok(()));
    assert_eq!((find("mine").map(|entry| entry.scheme.title), ecn_use("mine")), (Some("first"), None));
    assert_eq!(register(named("second", &[Need::Ecn(ACCURATE)])), Ok(()));
    assert_eq!(
        (find("mine").map(|entry| entry.scheme.title), ecn_use("mine")),
        (Some("second"), Some(ACCURATE))
    );
    let names: Vec<&str> = catalogue().iter().map(|entry| entry.scheme.name).collect();
    assert_eq!(names.len(), before + 1);
    assert!(names.is_sorted() && names.contains(&"mine"));
}
