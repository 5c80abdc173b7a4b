declare module 'node:_http_common' {
  type Callback = (...values: never[]) => unknown;

  /** The parser behind `node:http` (llhttp). */
  interface Parser {
    initialize(type: number, resource: object, maxHeaderBytes: number): void;
    /** The number of bytes read, or what was wrong. */
    execute(bytes: Buffer): number | Error;
    [callback: number]: Callback;
  }

  interface ParserType {
    new (): Parser;
    REQUEST: number;
    RESPONSE: number;
    kOnHeaders: number;
    kOnHeadersComplete: number;
    kOnBody: number;
    kOnMessageComplete: number;
  }

  const common: { HTTPParser: ParserType };
  export default common;
}
