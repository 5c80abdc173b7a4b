/**
 * Servers of streams that play and then turn hostile, in a process of their own whose priority its parent chooses: what
 * they take of the machine is not the flood's doing. Over IPC `{ serve: name }` is answered with `{ url }`,
 * `{ turn: true }` begins the flood, and `{ cost: true }` is answered with `{ cpuMs, floodBytes }`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createRtspReader, formatMessage } from '@vision/streams/rtsp-message';
import { MESSAGE } from '../../../services/inference/src/inputs/rtmp/rtmp-message.ts';
import { tcpServer } from '../../../services/inference/test/support/live-servers.ts';
import { rtspServer } from '../../../services/inference/test/support/rtsp-server.ts';
import { info, scriptedRtmp } from '../../../services/inference/test/support/scripted-rtmp.ts';
import { BURSTS, HLS_FLOODS, HTTP_FLOODS, LARGE_VIDEO, NULL_PACKETS, RTMP_FLOODS, RTSP_FLOODS } from './flood-bytes.ts';

const BURST_MS = 2_600;
const PIECE_S = 4;
/** What is written at once counts as sent, also while it waits here. */
const PIECE_BYTES = 256 * 1024;
const VIDEO = join(import.meta.dirname, '../../../examples/street.mp4');
const turn = Promise.withResolvers<undefined>();
const state = { isHostile: false, floodBytes: 0 };

/** As fast as it is taken, once it is time. */
async function flood(to: Writable, bytes: Buffer): Promise<void> {
  await turn.promise;
  let at = 0;
  const more = () => {
    let isTaken = true;
    while (isTaken && to.writable) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      isTaken = to.write(piece);
      state.floodBytes += piece.length;
      at = at + piece.length === bytes.length ? 0 : at + piece.length;
    }
  };
  to.on('drain', more);
  more();
}

/** The video as a camera sends it. */
function playing(container: 'mpegts' | 'flv', limits: string[] = []): Readable {
  const input = ['-v', 'error', '-nostdin', '-re', '-stream_loop', '-1', '-i', VIDEO];
  const args = [...input, ...limits, '-map', '0:v:0', '-c', 'copy', '-f', container, 'pipe:1'];
  return spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout;
}

/** Hands whole pieces of an honest stream on, until it is time for others. */
function honest(video: Readable, to: Writable, onPiece: (piece: Buffer) => void): void {
  video.on('data', (chunk: Buffer) => {
    if (!state.isHostile && to.writable) onPiece(chunk);
    else video.destroy();
  });
}

const FLV_HEADER = 13;

/** One FLV tag after the other. */
function flvTags(onTag: (tag: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let skip = FLV_HEADER;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (rest.length < skip) return;
    rest = rest.subarray(skip);
    skip = 0;
    for (let end = endOf(rest); end <= rest.length; end = endOf(rest)) {
      onTag(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}

const endOf = (tags: Buffer) => (tags.length < 4 ? Infinity : 15 + tags.readUIntBE(1, 3));

async function http(answer: (path: string, res: ServerResponse) => void): Promise<string> {
  const server = createServer((req, res) =>
    answer(
      req.url ?? '',
      res.on('error', () => undefined),
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const httpFlood = async ({ container, bytes, isRaw = false }: (typeof HTTP_FLOODS)[string]) => {
  const base = await http((_path, res) => {
    res.writeHead(200, { 'content-type': container === 'flv' ? 'video/x-flv' : 'video/mp2t' });
    if (container === 'flv') res.write(Buffer.from('464c5601010000000900000000', 'hex'));
    const write = (piece: Buffer) => void res.write(piece);
    honest(playing(container), res, container === 'flv' ? flvTags(write) : write);
    void flood(isRaw && res.socket ? res.socket : res, bytes);
  });
  return `${base}/live`;
};

/** Video that plays, and then two seconds of 4K again and again. */
const largeVideo = async () => {
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=3840x2160:rate=60:duration=2'];
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '60', '-pix_fmt', 'yuv420p'];
  const args = ['-v', 'error', '-nostdin', ...source, ...encoder, '-f', 'mpegts', 'pipe:1'];
  const chunks = (await spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout.toArray()) as Buffer[];
  const large = Buffer.concat(chunks);
  const base = await http((_path, res) => {
    res.writeHead(200, { 'content-type': 'video/mp2t' });
    if (!state.isHostile) honest(playing('mpegts'), res, (piece) => void res.write(piece));
    void flood(res, large);
  });
  return `${base}/live`;
};

/** Everything is held back for some seconds and sent at once, as by a relay that buffers. */
const bursts = async () => {
  const base = await http((_path, res) => {
    res.writeHead(200, { 'content-type': 'video/mp2t' });
    let held: Buffer[] = [];
    const video = playing('mpegts').on('data', (chunk: Buffer) => void held.push(chunk));
    const send = () => {
      res.write(Buffer.concat(held));
      held = [];
    };
    const timer = setInterval(send, BURST_MS);
    res.once('close', () => {
      clearInterval(timer);
      video.destroy();
    });
  });
  return `${base}/live`;
};

/** Pieces that play, then others or other playlists. */
const hlsFlood = async (playlistOf?: (number: number) => string[]) => {
  // A pipe of bytes, which its type does not say.
  const chunks = (await playing('mpegts', ['-t', String(PIECE_S)]).toArray()) as Buffer[];
  const piece = Buffer.concat(chunks);
  const from = performance.now();
  let number = 0;
  const counted = <T extends string | Buffer>(bytes: T): T => {
    if (state.isHostile) state.floodBytes += bytes.length;
    return bytes;
  };
  const base = await http((path, res) => {
    if (path.endsWith('.ts')) {
      res.writeHead(200).end(counted(state.isHostile && !playlistOf ? Buffer.alloc(8 << 20, NULL_PACKETS) : piece));
      return;
    }
    const seconds = state.isHostile ? 0 : PIECE_S;
    number = state.isHostile ? number + 6 : Math.floor((performance.now() - from) / (PIECE_S * 1000));
    const names = Array.from({ length: 6 }, (_, at) => `#EXT-X-DISCONTINUITY\n#EXTINF:${seconds},\n${number + at}.ts`);
    const honest = [`#EXT-X-TARGETDURATION:${PIECE_S}`, `#EXT-X-MEDIA-SEQUENCE:${number}`, ...names];
    const lines = state.isHostile && playlistOf ? playlistOf(number) : honest;
    res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' });
    res.end(counted(['#EXTM3U', ...lines, ''].join('\n')));
  });
  return `${base}/live.m3u8`;
};

const rtmpFlood = async (bytes: Buffer) => {
  const { port } = await scriptedRtmp({
    play: (viewer) => {
      viewer.say('onStatus', 0, null, info({ level: 'status', code: 'NetStream.Play.Start' }));
      const send = (tag: Buffer) => {
        if (tag[0] === MESSAGE.video) viewer.send(MESSAGE.video, tag.subarray(11, -4), tag.readUIntBE(4, 3));
      };
      honest(playing('flv'), viewer.socket, flvTags(send));
      void flood(viewer.socket, bytes);
    },
  });
  return `rtmp://127.0.0.1:${port}/live/yard`;
};

/** An honest server, behind a relay that takes its place when it is time. */
const rtspFlood = async (bytes: Buffer) => {
  const camera = await rtspServer(VIDEO, { path: '/yard' });
  // Its ffmpeg sends datagrams and notices no reader that is gone.
  process.once('exit', camera.close);
  const { port } = await tcpServer((viewer) => {
    const server = connect(camera.port, '127.0.0.1').on('error', () => viewer.destroy());
    const read = createRtspReader();
    viewer.pipe(server);
    viewer.once('close', () => server.destroy());
    server.on('data', (chunk: Buffer) => {
      for (const part of read(chunk)) {
        if (state.isHostile) continue;
        if (part.kind === 'packet') viewer.write(part.bytes);
        else viewer.write(formatMessage(part.startLine, part.headers, part.body));
      }
    });
    void flood(viewer, bytes);
  });
  return `rtsp://127.0.0.1:${port}/yard`;
};

const serve = (name: string): Promise<string> => {
  const [rtsp, rtmp, web] = [RTSP_FLOODS[name], RTMP_FLOODS[name], HTTP_FLOODS[name]];
  if (rtsp) return rtspFlood(rtsp);
  if (rtmp) return rtmpFlood(rtmp);
  if (web) return httpFlood(web);
  if (name === LARGE_VIDEO) return largeVideo();
  return name === BURSTS ? bursts() : hlsFlood(HLS_FLOODS[name]);
};

process.on('message', (asked: { serve?: string; turn?: boolean }) => {
  const answer = async () => {
    if (asked.serve !== undefined) return { url: await serve(asked.serve) };
    if (asked.turn) {
      state.isHostile = true;
      turn.resolve(undefined);
    }
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1000, floodBytes: state.floodBytes };
  };
  void answer().then((said) => process.send?.(said));
});
process.once('disconnect', () => process.exit());
