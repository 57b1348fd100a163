/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = `
{"id":"grok-4.3","name":"Grok 4.3","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","low","medium","high","xhigh"]}],"tool_call":true,"modalities":{"input":["text","image","pdf"],"output":["text"]},"cost":{"input":1.25,"output":2.5,"cache_read":0.2,"tiers":[{"input":2.5,"output":5,"cache_read":0.4,"tier":{"size":200000}}]},"limit":{"context":1000000,"output":30000}}
{"id":"grok-4.5","name":"Grok 4.5","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high","xhigh"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":2,"output":6,"cache_read":0.3,"tiers":[{"input":4,"output":12,"cache_read":0.6,"tier":{"size":200000}}]},"limit":{"context":500000,"output":500000}}
{"id":"grok-4.6","name":"Grok 4.6","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high","xhigh"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":2,"output":6,"cache_read":0.5,"tiers":[{"input":4,"output":12,"cache_read":1,"tier":{"size":200000}}]},"limit":{"context":500000,"output":500000}}
{"id":"grok-4.7","name":"Grok 4.7","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","medium","high","xhigh"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":2,"output":6,"cache_read":0.5,"tiers":[{"input":4,"output":12,"cache_read":1,"tier":{"size":200000}}]},"limit":{"context":500000,"output":500000}}
`;

/** The day this was known. */
export const AS_OF = '2026-11-10';
