/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = `
{"id":"deepseek-flash","name":"DeepSeek V4.1 Flash","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","low","high","max"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":0.3,"output":1.2,"cache_read":0.006},"limit":{"context":1000000,"output":384000}}
{"id":"deepseek-v4-pro","name":"DeepSeek V4 Pro","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","high","max"]}],"tool_call":true,"knowledge":"2025-05","modalities":{"input":["text"],"output":["text"]},"cost":{"input":1.32,"output":3.96,"cache_read":0.044},"limit":{"context":1000000,"output":384000}}
`;

/** The day this was known. */
export const AS_OF = '2026-11-10';
