import * as http from '../../../services/inference/test/support/hostile-http.ts';
import * as rtmp from '../../../services/inference/test/support/hostile-rtmp.ts';
import * as rtsp from '../../../services/inference/test/support/hostile-rtsp.ts';
import { tcpServer } from '../../../services/inference/test/support/live-servers.ts';
import type { Elsewhere } from '../../../services/inference/test/support/live-servers.ts';
import { scriptedRtmp } from '../../../services/inference/test/support/scripted-rtmp.ts';
import type { RtmpScript } from '../../../services/inference/test/support/scripted-rtmp.ts';
import { scriptedRtsp } from '../../../services/inference/test/support/scripted-rtsp.ts';
import type { RtspScript } from '../../../services/inference/test/support/scripted-rtsp.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { UNREACHABLE } from '../create-streams.ts';
import { NO_FRAMES, watchHostile } from '../watch.ts';

const wanted = 'a connection to an inner address, led there by what a server answers';

const group = (title: string, attacks: Attack[]): AttackGroup => ({
  title,
  wanted,
  withinMs: 60_000,
  // A worker of the local system has 16 places, and other attacks need some.
  atOnce: 4,
  isPatient: true,
  attacks,
});

/** What is refused at the first look costs nothing; what is not is a task that failed, and counts. */
const row = (name: string, isTask: boolean, attempt: Attack['attempt']): Attack => ({
  name,
  expected: isTask ? NO_FRAMES : UNREACHABLE,
  charged: isTask ? 1 : 0,
  attempt,
});

const byRtsp = (name: string, isTask: boolean, script: (at: Elsewhere) => RtspScript) =>
  row(name, isTask, (target) => watchHostile(target, 'rtsp', (at) => scriptedRtsp(script(at))));

/** What the probe sees before a task is made: it asks for OPTIONS and DESCRIBE and reads answers as the reader does. */
const SEEN_AT_ONCE = new Set([
  'a redirect',
  'a redirect of OPTIONS',
  'a second answer behind a bare LF',
  'a second answer behind a bare CR',
  'LF in the start line',
  'a hexadecimal length',
  'two lengths',
  'a tab before the status',
  'an answer before it was asked for',
  'an answer to nothing',
  'an answer without a number',
  'a request to go elsewhere',
  'packets in place of an answer, without end',
]);

export const rtspServers = group('Hostile RTSP servers', [
  ...rtsp.leadingAnswers.map(([name, , script]) => byRtsp(name, !SEEN_AT_ONCE.has(name), script)),
  ...rtsp.unreadHosts.map(([name, script]) => byRtsp(`a host in ${name}`, true, script)),
  ...rtsp.whilePlaying.map(([name, , more]) => byRtsp(`${name} while it plays`, true, (at) => rtsp.playing(more(at)))),
]);

const byRtmp = (name: string, script: (at: Elsewhere) => RtmpScript) =>
  row(name, true, (target) => watchHostile(target, 'rtmp', (at) => scriptedRtmp(script(at))));

export const rtmpServers = group('Hostile RTMP servers', [
  ...rtmp.handshakes.map(([name, hello]) =>
    row(`${name} in place of a handshake`, false, (target) =>
      watchHostile(target, 'rtmp', () => scriptedRtmp({}, () => hello)),
    ),
  ),
  ...rtmp.beforePlaying.map(([name, , script]) => byRtmp(name, script)),
  ...rtmp.inPlaceOfPlaying.map(([name, , script]) => byRtmp(name, script)),
]);

/** A server that answers every request with these bytes, as latin-1. */
const saying = (answer: (path: string) => string) =>
  tcpServer((socket) => {
    socket.on('data', (request: Buffer) => {
      socket.write(Buffer.from(answer(request.toString('latin1').split(' ')[1] ?? ''), 'latin1'));
    });
  });

const byHttp = (name: string, isTask: boolean, answer: (at: Elsewhere, path: string) => string) =>
  row(name, isTask, (target) => watchHostile(target, 'http', (at) => saying((path) => answer(at, path))));

export const httpServers = group('Hostile HTTP servers and playlists', [
  ...http.REDIRECTS.map((status) => byHttp(`a redirect with ${status}`, false, (at) => http.redirect(at, status))),
  ...http.leadingAnswers.map(([name, , answer]) => byHttp(name, false, answer)),
  ...http.playlists.map(([name, , answer]) => byHttp(`a playlist with ${name}`, true, answer)),
  byHttp('a playlist with pieces that redirect', true, http.redirectingPiece),
]);
