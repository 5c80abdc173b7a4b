/** Why a task ended without success, as callers see it, each with what they can do. Never anything of the source. */
const advice = {
  unreachable: 'Check that the camera is on and reachable at the address of the task, then create a new task.',
  source_lost: 'The stream gave no frame for too long. Check the camera and its network, then create a new task.',
  stream_ended: 'The stream ended before its first frame. Check that the camera sends video, then create a new task.',
  auth_failed: 'The source refused the credentials. Create a new task with a valid user name and password.',
  not_found: 'The source has no stream at this path. Correct the path of the stream and create a new task.',
  codec_unsupported: 'Set the camera to H.264 or H.265, or convert the video, and create a new task.',
  no_video_track: 'The source has no video track. Select a stream or file with video and create a new task.',
  unreadable: 'The video is damaged or in an unknown format. Export it again as MP4 and create a new task.',
  format_changed: 'The source keeps changing its format. Set a fixed resolution and codec and create a new task.',
  video_too_long: 'The video is too long. Cut it into shorter parts and create a task for each.',
  video_too_dense: 'The video has too many frames or pixels. Convert it to a lower frame rate or resolution.',
  too_much_data: 'The source sends more data than allowed. Lower its bit rate and create a new task.',
  decode_time_exceeded: 'Decoding took too long. Convert the video to a lower resolution and create a new task.',
  decoder_failed: 'The video could not be decoded. Restart the camera or convert the video, then create a new task.',
  service_fault: 'The service could not finish the task. Create a new task; contact the operator if it fails again.',
  unknown: 'The reason is not known. Create a new task; contact the operator if it fails again.',
} as const;

export type EndedReason = keyof typeof advice;

/** Every reason of an ended task. */
export const endedReasons = Object.keys(advice) as [EndedReason, ...EndedReason[]];

// Which of these it was depends on hosts behind the address, so it would map networks.
const UNREACHABLE = new Set(['connection_failed', 'timeout', 'tls_invalid', 'address_forbidden', 'redirect_refused']);
const FAULTS = new Set([
  'worker_crashed',
  'internal',
  'job_failed',
  'job_vanished',
  'no_local_space',
  'decoder_not_started',
  'scene_unknown',
  'submission_interrupted',
]);

/** The reason that callers see for one that the backend or tasks gave. Words that are not listed become `unknown`. */
export function endedReason(reason: string | null | undefined): EndedReason {
  if (reason === null || reason === undefined) return 'unknown';
  if (UNREACHABLE.has(reason)) return 'unreachable';
  if (FAULTS.has(reason)) return 'service_fault';
  return Object.hasOwn(advice, reason) ? (reason as EndedReason) : 'unknown';
}

/** What a caller can do about it. */
export const adviceFor = (reason: EndedReason): string => advice[reason];
