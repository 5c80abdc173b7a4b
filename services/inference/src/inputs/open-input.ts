import type { HttpOptions, LiveInput } from './live-input.ts';

/** Opens a source. Each protocol is loaded when it is needed, so that a reader starts sooner. @throws SourceError */
export async function openInput(options: HttpOptions): Promise<LiveInput> {
  switch (options.url.scheme) {
    case 'http':
    case 'https': {
      const { openHttp } = await import('./http-input.ts');
      return openHttp(options);
    }
    case 'rtsp': {
      const { openRtsp } = await import('./rtsp/rtsp-input.ts');
      return openRtsp(options);
    }
    case 'rtmp': {
      const { openRtmp } = await import('./rtmp/rtmp-input.ts');
      return openRtmp(options);
    }
  }
}
