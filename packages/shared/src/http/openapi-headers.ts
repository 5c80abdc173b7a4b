/** Headers of answers, as the documents describe them. */
export const headerDocs = {
  'X-Request-Id': {
    required: true,
    description: 'Identifier of the request, taken from the request or generated',
    schema: { type: 'string' as const, example: '5f0c2d1e-6a0b-4a57-9d2c-0d4a3c6f2b11' },
  },
  'X-Trace-Id': {
    required: true,
    description: 'Identifier of the trace of the request; include it in support requests',
    schema: { type: 'string' as const, pattern: '^[0-9a-f]{32}$', example: '4bf92f3577b34da6a3ce929d0e0e4736' },
  },
  'RateLimit-Policy': {
    description:
      'Limits that apply to the request (draft-ietf-httpapi-ratelimit-headers): `q` per `w` seconds, or `q` at once',
    schema: { type: 'string' as const, example: '"requests";q=200;w=2' },
  },
  RateLimit: {
    description: 'Remaining allowance: `r` requests, reset after `t` seconds',
    schema: { type: 'string' as const, example: '"requests";r=199;t=1' },
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry',
    schema: { type: 'integer' as const, minimum: 1, example: 5 },
  },
  'WWW-Authenticate': {
    description: 'Authentication scheme',
    schema: { type: 'string' as const, enum: ['Bearer'] },
  },
  Allow: {
    description: 'Methods that the path supports',
    schema: { type: 'string' as const, example: 'GET' },
  },
  'Idempotency-Replayed': {
    description: 'Present if the response is an idempotent replay; nothing was charged again',
    schema: { type: 'string' as const, enum: ['true'] },
  },
  'Accept-Ranges': {
    description: 'Unit of ranges that the operation accepts',
    schema: { type: 'string' as const, enum: ['bytes'] },
  },
  'Content-Range': {
    description: 'Range of the content in the response and size of the content; with 416 only the size',
    schema: { type: 'string' as const, example: 'bytes 0-1023/146515' },
  },
  ETag: {
    description: 'Strong entity tag of the content',
    schema: { type: 'string' as const, example: '"019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10"' },
  },
  'X-Frame-Time-Ms': {
    description: 'Time of the frame, as `frame_time_ms` of result frames: Unix time in milliseconds',
    schema: { type: 'integer' as const, minimum: 0, example: 1773563400000 },
  },
  'X-Accel-Buffering': {
    description: 'Tells proxies not to buffer the response',
    schema: { type: 'string' as const, enum: ['no'] },
  },
  'Cache-Control': {
    description:
      '`no-store`: the response contains a secret or is valid only now. `private, no-cache`: it may be stored for its ' +
      'caller, and is revalidated by its `ETag`',
    schema: { type: 'string' as const, enum: ['no-store', 'private, no-cache'] },
  },
};

export type HeaderName = keyof typeof headerDocs;
