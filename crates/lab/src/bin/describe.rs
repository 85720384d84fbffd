//! Prints the content of the reference pages as one JSON object, so that the pages are checked without a release build
//! of the Python package.

use serde_json::json;

fn main() {
    let all = json!({
        "schemes": lab::describe::schemes(),
        "strategies": lab::describe::strategies(),
        "metrics": lab::describe::metrics(),
        "series": lab::describe::series(),
        "schema": lab::schema(),
    });
    println!("{all}");
}
