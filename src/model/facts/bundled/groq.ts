/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = `
{"id":"llama-3.1-8b-instant","name":"Llama 3.1 8B","reasoning":false,"tool_call":true,"knowledge":"2023-12","modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.05,"output":0.08},"limit":{"context":131072,"output":131072}}
{"id":"llama-3.3-70b-versatile","name":"Llama 3.3 70B","reasoning":false,"tool_call":true,"knowledge":"2023-12","modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.59,"output":0.79},"limit":{"context":131072,"output":32768}}
{"id":"openai/gpt-oss-120b","name":"GPT OSS 120B","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high"]}],"tool_call":true,"knowledge":"2025-08","modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.15,"output":0.6,"cache_read":0.075},"limit":{"context":131072,"output":65536}}
{"id":"openai/gpt-oss-20b","name":"GPT OSS 20B","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high"]}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.075,"output":0.3,"cache_read":0.0375},"limit":{"context":131072,"output":65536}}
{"id":"openai/gpt-oss-safeguard-20b","name":"Safety GPT OSS 20B","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high"]}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.075,"output":0.3,"cache_read":0.0375},"limit":{"context":131072,"output":65536}}
{"id":"qwen/qwen3.6-27b","name":"Qwen3.6 27B","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","high"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":0.6,"output":3,"cache_read":0.3},"limit":{"context":131072,"output":16384}}
{"id":"qwen/qwen3.8-27b","name":"Qwen3.8 27B","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","low","medium","high"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":0.8,"output":4},"limit":{"context":131072,"output":16384}}
`;

/** The day this was known. */
export const AS_OF = '2026-11-10';
