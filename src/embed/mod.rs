//! Sentence encoders: from text to unit vectors.
//!
//! [`Embedder`] is the handle that everything else holds. Behind it stand the model files
//! (`manifest`, `files`), the tokenizer with its explicit truncation, the BERT forward
//! through candle, and the queue with its own threads. A vector it returns has
//! [`ModelInfo::dimensions`] finite numbers and length 1.
