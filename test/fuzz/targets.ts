/** Everything of ours that reads what strangers send, and the sources whose edges guide the search. */
export const targets: Readonly<Record<string, readonly string[]>> = {
  'rtsp-http': ['streams/src/rtsp-message.ts'],
  'rtsp-message': ['streams/src/rtsp-message.ts'],
  'rtsp-session': ['inference/src/inputs/rtsp/', 'streams/src/rtsp-', 'streams/src/digest-auth.ts'],
  sdp: ['inference/src/inputs/rtsp/sdp.ts'],
  'sdp-transform': ['inference/src/inputs/rtsp/sdp.ts'],
  'rtp-video': [
    'inference/src/inputs/rtsp/rtp-',
    'inference/src/inputs/rtsp/jpeg-header.ts',
    'inference/src/inputs/video/',
  ],
  amf: ['inference/src/inputs/rtmp/amf0.ts'],
  'rtmp-chunks': ['inference/src/inputs/rtmp/chunk-reader.ts', 'inference/src/inputs/rtmp/growing-buffer.ts'],
  'rtmp-session': ['inference/src/inputs/rtmp/', 'streams/src/rtmp-handshake.ts'],
  'flv-video': [
    'inference/src/inputs/rtmp/flv-video.ts',
    'inference/src/inputs/rtmp/codec-configuration.ts',
    'inference/src/inputs/video/',
  ],
  playlist: ['inference/src/inputs/hls-', 'node_modules/hls-parser/'],
  'playlist-m3u8': ['inference/src/inputs/hls-', 'node_modules/hls-parser/'],
  'stream-url': ['streams/src/stream-url.ts', 'shared/src/net/address-policy.ts', 'node_modules/ipaddr.js/'],
  multipart: ['creation/src/multipart/', 'node_modules/multer/', 'node_modules/busboy/', 'node_modules/streamsearch/'],
  pictures: ['inference/src/domain/inspect-', 'inference/src/domain/strip-png', 'inference/src/domain/sniff-image'],
  mp4: ['inference/src/domain/mp4/', 'tasks/src/domain/video-type.ts'],
  'mp4-ffprobe': ['inference/src/domain/mp4/'],
  container: ['streams/src/container-format.ts', 'tasks/src/domain/stream-content.ts', 'domain/image-type.ts'],
  'decoder-frames': ['inference/src/sandbox/frames.ts'],
  facts: [
    'inference/src/readers/facts.ts',
    'inference/src/readers/source-addresses.ts',
    'inference/src/sandbox/frames.ts',
  ],
  'frame-segment': ['contracts/src/segments/', 'contracts/src/frame-data.ts'],
  credentials: ['streams/src/digest-auth.ts', 'inference/src/inputs/rtmp/rtmp-credentials.ts'],
  cursor: ['results/src/domain/cursor.ts', 'results/src/domain/result-query.ts', 'tasks/src/domain/history-cursor.ts'],
  'service-token': ['shared/src/http/service-token.ts', 'shared/src/http/authenticate.ts', 'node_modules/jose/'],
  keys: ['gateway/src/domain/', 'shared/src/http/authenticate.ts', 'node_modules/ipaddr.js/'],
};

export function targetUrl(name: string): string {
  return new URL(`./targets/${name}.ts`, import.meta.url).href;
}
