/** Security schemes of the OpenAPI document. A request needs one of them. */
export const SECURITY_SCHEMES = ['bearer', 'basic', 'session'] as const;
