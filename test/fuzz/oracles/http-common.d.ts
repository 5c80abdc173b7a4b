declare module 'node:_http_common' {
  type Callback = (...values: never[]) => unknown;

  /** The parser behind `node:http` (llhttp). */
  class HTTPParser {
    static REQUEST: number;
    static RESPONSE: number;
    static kOnHeaders: number;
    static kOnHeadersComplete: number;
    static kOnBody: number;
    static kOnMessageComplete: number;
    initialize(type: number, resource: object, maxHeaderBytes: number): void;
    /** The number of bytes read, or what was wrong. */
    execute(bytes: Buffer): number | Error;
    [callback: number]: Callback;
  }

  const common: { HTTPParser: typeof HTTPParser };
  export default common;
}
