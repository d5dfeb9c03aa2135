use super::*;
#[test]
#[ignore]
fn by_hand() {
    for arg in std::env::var("LOAD").unwrap().split(':') {
        let t = std::time::Instant::now();
        match load_paths(&[arg.into()]) {
            Ok(i) => {
                println!(
                    "{arg}: {} entries {} diagnostics {:?}",
                    i.entries.len(),
                    i.diagnostics.len(),
                    t.elapsed()
                );
                for d in &i.diagnostics {
                    println!("  {d}");
                }
                if std::env::var("SHOW").is_ok() {
                    for e in &i.entries {
                        println!("{}", serde_json::to_string(e).unwrap());
                    }
                }
            }
            Err(e) => println!("{arg}: ERROR {e}"),
        }
    }
}
