declare module 'sdp-transform' {
  export interface Media {
    type?: string;
    protocol?: string;
    /** Numbers beside each other; one alone is a number. */
    payloads?: string | number;
    /** A number where the text is one. */
    control?: string | number;
    rtp: { payload: number | string; codec: string | number; rate?: number | string }[];
    fmtp: { payload: number | string; config: string | number }[];
  }

  export interface Description {
    control?: string | number;
    media: Media[];
  }

  export function parse(text: string): Description;
  export function parseParams(text: string): Record<string, string | number | undefined>;
}
