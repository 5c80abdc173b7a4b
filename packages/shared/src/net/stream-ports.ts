/**
 * Ports that cameras and streaming servers listen on by default, for the schemes of stream addresses:
 * - 80-89 and 443: cameras and video recorders, which offer the next port when one is taken (88: Foscam)
 * - 554, 555, 1554, 5554, 7070, 8554, 8555, 10554: RTSP of cameras, recorders and media servers
 * - 1935, 1936: RTMP
 * - 1984: go2rtc; 5080, 5443: Ant Media; 7001: Nx Witness; 7447: UniFi Protect
 * - 8000-8099, 8443, 8888: Icecast, mjpg-streamer, Motion, Wowza, HLS of MediaMTX and most "second" web ports
 * None of them belongs to a database, a broker, mail, remote access or the control of machines.
 */
export const DEFAULT_STREAM_PORTS =
  '80-89,443,554,555,1554,1935,1936,1984,5080,5443,5554,7001,7070,7447,8000-8099,8443,8554,8555,8888,10554';

/** Which TCP ports streams may come from. */
export type PortRule = (port: number) => boolean;

/** Reads a list of ports and ranges (`554`, `8000-8099`). @throws Error when an entry is neither. */
export function readPorts(entries: readonly string[]): PortRule {
  const ranges = entries.map(readRange);
  return (port) => ranges.some(([first, last]) => port >= first && port <= last);
}

function readRange(entry: string): [number, number] {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(entry) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (first < 1 || last > 65_535 || first > last) throw new Error(`not a port or a range of ports: ${entry}`);
  return [first, last];
}
