declare module 'm3u8-parser' {
  /** A byte range of a segment or of its header. */
  interface Range {
    length?: number;
    offset?: number;
  }

  export interface Entry {
    uri?: string;
    /** In seconds. */
    duration?: number;
    byterange?: Range;
    map?: { uri?: string; byterange?: Range };
    key?: { method: string; uri: string; iv?: Uint32Array } | null;
    /** Of a variant. */
    attributes?: { RESOLUTION?: { width?: number; height?: number } };
  }

  export interface Manifest {
    segments: Entry[];
    playlists?: Entry[];
    endList?: boolean;
    targetDuration?: number;
    mediaSequence?: number;
    /** Variables of EXT-X-DEFINE. */
    definitions?: Readonly<Record<string, string>>;
    /** Keys of other systems than AES-128. */
    contentProtection?: unknown;
  }

  export class Parser {
    manifest: Manifest;
    push(text: string): void;
    end(): void;
  }
}
