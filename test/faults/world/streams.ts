import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../../examples/live-source.ts';
import { findProgram } from '../../../deploy/local/host-programs.ts';
import type { HostProgram } from '../../../deploy/local/host-programs.ts';
import { answersOk, isPortFree } from '../../../deploy/local/wait.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import { madeVideo } from '../../support/video.ts';
import { portBlocks } from './ports.ts';

/** Sources of video for the real workers, and one that only probes look at. */
export interface Streams {
  /** Addresses of live streams that run for the whole time, by the server that sends them. */
  live: { server: string; url: string }[];
  /** An FLV stream that never ends, as far as a probe looks. */
  probed: string;
  /** Whether that one is answered as if it were not there. */
  hideProbed: (isHidden: boolean) => void;
  /** A short video file. */
  clip: Buffer;
  close: () => Promise<void>;
}

interface Server {
  streams: Streams['live'];
  close: () => void;
}

/** Small and slow pictures: two workers have to decode many of them beside everything else. */
const size = '160x120';
const RATE = 5;
const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'];

export async function startStreams(settings: Settings): Promise<Streams> {
  const folder = join(settings.localDir, 'streams');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const source = ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=${RATE}`];
  const clip = await madeVideo('clip.mp4', ...source, '-t', '4', ...encoding);
  const file = join(folder, 'loop.mp4');
  writeFileSync(file, await madeVideo('loop.mp4', ...source, '-t', '30', ...encoding, '-g', String(RATE)));
  const servers = [await ownServer(file)];
  if (isThere('nginx', 'RTMP and HLS')) servers.push(await startNginx(settings, folder, file));
  if (isThere('gstRtsp', 'RTSP')) servers.push(await startGstreamer(settings, folder));
  const probed = await startEndless();
  return {
    live: servers.flatMap(({ streams }) => streams),
    probed: probed.url,
    hideProbed: probed.hide,
    clip,
    close: async () => {
      for (const server of servers) server.close();
      await probed.close();
    },
  };
}

/** A server of others is a part of the suite where it can be had; where not, one line says so. */
export function isThere(program: HostProgram, what: string): boolean {
  const isInstalled = findProgram(program) !== undefined;
  if (!isInstalled) console.log(`faults     left out on this machine: ${what}, because ${program} is not installed`);
  return isInstalled;
}

async function ownServer(video: string): Promise<Server> {
  const { url, close } = await startLiveSource({ video });
  return { streams: [{ server: 'ffmpeg over HTTP', url }], close };
}

/** Debian's nginx with its RTMP module: RTMP itself, and the HLS that it makes of it. */
async function startNginx(settings: Settings, folder: string, video: string): Promise<Server> {
  const [rtmp, hls] = [settings.portBase + portBlocks.rtmp, settings.portBase + portBlocks.hls];
  const conf = join(folder, 'nginx.conf');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  mkdirSync(join(folder, 'hls'), { recursive: true });
  writeFileSync(
    conf,
    `load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log stderr warn;
events {}
rtmp { server { listen 127.0.0.1:${rtmp}; application live {
  live on; record off; hls on; hls_path ${join(folder, 'hls')}; hls_fragment 1s; hls_playlist_length 6s;
} } }
http { access_log off; ${paths.join(' ')}
  server { listen 127.0.0.1:${hls}; root ${folder};
    types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; } } }
`,
  );
  const nginx = run('/usr/sbin/nginx', ['-c', conf, '-e', 'stderr']);
  await until(async () => !(await isPortFree(rtmp)), { timeoutMs: 10_000 });
  const target = `rtmp://127.0.0.1:${rtmp}/live/a`;
  const loop = ['-v', 'error', '-nostdin', '-re', '-stream_loop', '-1', '-i', video, '-c', 'copy', '-f', 'flv', target];
  const publisher = run('ffmpeg', loop);
  const playlist = `http://127.0.0.1:${hls}/hls/a.m3u8`;
  await until(() => answersOk(playlist), { timeoutMs: 20_000 });
  return {
    streams: [
      { server: 'nginx over RTMP', url: target },
      { server: 'nginx over HLS', url: playlist },
    ],
    close: () => [publisher, nginx].forEach((child) => child.kill('SIGTERM')),
  };
}

/** GStreamer's own RTSP server, driven from Python as its examples are. */
async function startGstreamer(settings: Settings, folder: string): Promise<Server> {
  const port = settings.portBase + portBlocks.rtsp;
  const script = join(folder, 'rtsp.py');
  const raw = `videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=${RATE}/1`;
  const encoder = `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${RATE}`;
  writeFileSync(
    script,
    `import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstRtspServer', '1.0')
from gi.repository import Gst, GstRtspServer, GLib
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address('127.0.0.1')
server.set_service('${port}')
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch('( ${raw} ! ${encoder} ! rtph264pay name=pay0 pt=96 config-interval=1 )')
factory.set_shared(True)
server.get_mount_points().add_factory('/live', factory)
server.attach(None)
GLib.MainLoop().run()
`,
  );
  const server = run('/usr/bin/python3', [script]);
  await until(async () => !(await isPortFree(port)), { timeoutMs: 10_000 });
  return {
    streams: [{ server: 'GStreamer over RTSP', url: `rtsp://127.0.0.1:${port}/live` }],
    close: () => server.kill('SIGTERM'),
  };
}

/** A program that ends with this process. */
function run(command: string, args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: 'ignore' });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end)).once('error', () => process.off('exit', end));
  return child;
}

async function startEndless() {
  let hidden = false;
  const server = createServer((_req, res) => {
    if (hidden) return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'video/x-flv' });
    res.write(Buffer.from('464c5601050000000900000000', 'hex'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.flv`,
    hide: (isHidden: boolean) => void (hidden = isHidden),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The library that steps the clock of one process, where it can be had. */
export function findFakeTime(): string | undefined {
  if (!isThere('libfaketime', 'steps of clocks')) return undefined;
  return findProgram('libfaketime');
}
