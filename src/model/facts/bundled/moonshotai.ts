/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = `
{"id":"kimi-k2.6","name":"Kimi K2.6","reasoning":true,"reasoning_options":[{"type":"toggle"}],"tool_call":true,"knowledge":"2025-01","modalities":{"input":["text","image","video"],"output":["text"]},"cost":{"input":0.95,"output":4,"cache_read":0.16},"limit":{"context":262144,"output":262144}}
{"id":"kimi-k2.7-code","name":"Kimi K2.7 Code","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high"]}],"tool_call":true,"knowledge":"2025-01","modalities":{"input":["text","image","video"],"output":["text"]},"cost":{"input":0.95,"output":4,"cache_read":0.19},"limit":{"context":262144,"output":262144}}
{"id":"kimi-k2.7-code-highspeed","name":"Kimi K2.7 Code HighSpeed","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high"]}],"tool_call":true,"knowledge":"2025-01","modalities":{"input":["text","image","video"],"output":["text"]},"cost":{"input":1.9,"output":8,"cache_read":0.38},"limit":{"context":262144,"output":262144}}
{"id":"kimi-k3","name":"Kimi K3","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","high","max"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":3,"output":15,"cache_read":0.3},"limit":{"context":1048576,"output":1048576}}
{"id":"kimi-k3.1-pro","name":"Kimi K3.1 Pro","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","high","max"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":2,"output":10,"cache_read":0.2},"limit":{"context":1048576,"output":1048576}}
{"id":"kimi-k3.1-pro-highspeed","name":"Kimi K3.1 Pro Highspeed","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","high","max"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":4,"output":20,"cache_read":0.2},"limit":{"context":1048576,"output":1048576}}
`;

/** The day this was known. */
export const AS_OF = '2026-11-10';
