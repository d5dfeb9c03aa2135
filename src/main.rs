//! The `signalbox` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    signalbox::cli::run()
}
