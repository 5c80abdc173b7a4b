/** Headers of answers, as the documents describe them. */
export const headerDocs = {
  'X-Request-Id': {
    required: true,
    description: 'Id of this request: the one that was sent with it, or a new one',
    schema: { type: 'string' as const, example: '5f0c2d1e-6a0b-4a57-9d2c-0d4a3c6f2b11' },
  },
  'X-Trace-Id': {
    required: true,
    description: 'Id of the trace of this request; name it when you report a fault',
    schema: { type: 'string' as const, pattern: '^[0-9a-f]{32}$', example: '4bf92f3577b34da6a3ce929d0e0e4736' },
  },
  'RateLimit-Policy': {
    description:
      'The limits that count this request (draft-ietf-httpapi-ratelimit-headers): `q` in `w` seconds, or at once',
    schema: { type: 'string' as const, example: '"requests";q=200;w=2' },
  },
  RateLimit: {
    description: 'What is left of them: `r` requests, more after `t` seconds',
    schema: { type: 'string' as const, example: '"requests";r=199;t=1' },
  },
  'Retry-After': {
    description: 'Seconds after which a retry makes sense',
    schema: { type: 'integer' as const, minimum: 1, example: 5 },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate',
    schema: { type: 'string' as const, enum: ['Bearer'] },
  },
  Allow: {
    description: 'Methods of this path',
    schema: { type: 'string' as const, example: 'GET' },
  },
  'Idempotency-Replayed': {
    description: 'The request was known by its Idempotency-Key; nothing was charged again',
    schema: { type: 'string' as const, enum: ['true'] },
  },
  'Cache-Control': {
    description: 'The answer holds a secret or speaks of this moment only',
    schema: { type: 'string' as const, enum: ['no-store'] },
  },
};

export type HeaderName = keyof typeof headerDocs;
