/** High profiles, so that a browser which plays these plays what cameras and telephones record. */
const TYPES: Readonly<Record<string, string>> = {
  h264: 'avc1.640033',
  hevc: 'hvc1.1.6.L153.B0',
  av1: 'av01.0.08M.08',
  vp9: 'vp09.00.50.08',
};

interface Video {
  codec?: string | undefined;
  image?: { width: number; height: number } | undefined;
}

/** What a browser is asked about a video; undefined for a codec whose type is not known. */
function decodingQuery({ codec = '', image }: Video): MediaDecodingConfiguration | undefined {
  const type = TYPES[codec];
  if (type === undefined) return undefined;
  const { width, height } = image ?? { width: 1280, height: 720 };
  const contentType = `video/mp4; codecs="${type}"`;
  return { type: 'file', video: { contentType, width, height, bitrate: 4_000_000, framerate: 25 } };
}

/** Whether this browser says that it can play a video; true where that cannot be known before. */
export async function canDecode(video: Video, capabilities: MediaCapabilities | undefined): Promise<boolean> {
  const query = decodingQuery(video);
  if (!query || !capabilities) return true;
  const found = await capabilities.decodingInfo(query).catch(() => undefined);
  return found?.supported ?? true;
}
