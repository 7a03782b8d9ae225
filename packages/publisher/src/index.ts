/** What the adapters are made of, for servers that none of them fits. */
export {};
