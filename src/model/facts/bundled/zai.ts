/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = `
{"id":"glm-4.7","name":"GLM-4.7","reasoning":true,"reasoning_options":[{"type":"toggle"}],"tool_call":true,"knowledge":"2025-04","modalities":{"input":["text"],"output":["text"]},"cost":{"input":0.6,"output":2.2,"cache_read":0.11},"limit":{"context":204800,"output":131072}}
{"id":"glm-5-turbo","name":"GLM-5-Turbo","reasoning":true,"reasoning_options":[{"type":"toggle"}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":1.2,"output":4,"cache_read":0.24},"limit":{"context":200000,"output":131072}}
{"id":"glm-5.2","name":"GLM-5.2","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","high","max"]}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":1.4,"output":4.4,"cache_read":0.26},"limit":{"context":1000000,"output":131072}}
{"id":"glm-5.2-highspeed","name":"GLM-5.2 Highspeed","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","high","max"]}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":0,"output":0,"cache_read":0},"limit":{"context":1000000,"output":131072}}
{"id":"glm-5.3","name":"GLM-5.3","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","high","max"]}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":1.4,"output":4.4,"cache_read":0.26},"limit":{"context":1000000,"output":131072}}
{"id":"glm-5.3-flash","name":"GLM-5.3-Flash","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","high","max"]}],"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"cost":{"input":0.15,"output":0.5,"cache_read":0.03},"limit":{"context":1000000,"output":131072}}
{"id":"glm-5.3-highspeed","name":"GLM-5.3 Highspeed","reasoning":true,"reasoning_options":[{"type":"effort","values":["low","high","max"]}],"tool_call":true,"modalities":{"input":["text"],"output":["text"]},"cost":{"input":0,"output":0,"cache_read":0},"limit":{"context":1000000,"output":131072}}
`;

/** The day this was known. */
export const AS_OF = '2026-11-10';
