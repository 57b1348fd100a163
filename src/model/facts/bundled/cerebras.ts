/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = `
{"id":"gpt-oss-120b","name":"GPT OSS 120B","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high"]}],"tool_call":true,"knowledge":"2025-08","modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.35,"output":0.75,"cache_read":0.35},"limit":{"context":131072,"output":40960}}
{"id":"qwen-3.8-27b","name":"Qwen3.8 27B","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","low","medium","high"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":0.99,"output":1.49,"cache_read":0.99},"limit":{"context":131072,"output":40960}}
`;

/** The day this was known. */
export const AS_OF = '2026-11-10';
