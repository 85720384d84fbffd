//! Schemes that a program registers at run time.

use contract::{EcnFeedback, EcnUse, Scheme};
use schemes::{Entry, NameTaken, catalogue, ecn_use, find, register};

#[test]
fn a_registered_scheme_is_in_the_catalogue_and_can_be_replaced() {
    let aimd = find("aimd").expect("it is built in");
    assert_eq!(register(aimd, None), Err(NameTaken));
    let named = |title| Entry { scheme: Scheme { name: "mine", title, ..aimd.scheme }, ..aimd };
    assert!(find("mine").is_none());
    let before = catalogue().len();
    let accurate = EcnUse { feedback: EcnFeedback::Accurate, l4s: false };
    assert_eq!(register(named("first"), None), Ok(()));
    assert_eq!((find("mine").map(|entry| entry.scheme.title), ecn_use("mine")), (Some("first"), None));
    assert_eq!(register(named("second"), Some(accurate)), Ok(()));
    assert_eq!(
        (find("mine").map(|entry| entry.scheme.title), ecn_use("mine")),
        (Some("second"), Some(accurate))
    );
    let names: Vec<&str> = catalogue().iter().map(|entry| entry.scheme.name).collect();
    assert_eq!(names.len(), before + 1);
    assert!(names.is_sorted() && names.contains(&"mine"));
}
