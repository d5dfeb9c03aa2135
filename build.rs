//! Compiles the protobuf files without needing `protoc`.

use std::{env, error::Error, fs, path::PathBuf};

const FILES: [&str; 9] = [
    "signalbox/v1/catalog_service.proto",
    "signalbox/v1/entry.proto",
    "signalbox/v1/error_reason.proto",
    "signalbox/v1/journal_service.proto",
    "signalbox/v1/knowledge_service.proto",
    "signalbox/v1/loop_event.proto",
    "signalbox/v1/loop_service.proto",
    "signalbox/v1/route_service.proto",
    "signalbox/v1/system_service.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    // tonic-build emits no rerun lines of its own.
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=build.rs");
    let descriptors = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), prost_bytes(&descriptors))?;
    tonic_prost_build::configure()
        .codec_path("crate::grpc::codec::StrictCodec")
        .compile_fds(descriptors)?;
    Ok(())
}

fn prost_bytes(descriptors: &impl prost::Message) -> Vec<u8> {
    descriptors.encode_to_vec()
}
