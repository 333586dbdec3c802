/** Names of the security schemes of the OpenAPI document. Either may be used. */
export const SECURITY_SCHEMES = ['bearer', 'basic', 'session'] as const;
