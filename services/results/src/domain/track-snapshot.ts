/** What is known of the image of a track. */
export interface TrackSnapshot {
  state: 'none';
  reason: 'not_supported';
}

/** No backend takes images of tracks. */
export const snapshotOf = (): TrackSnapshot => ({ state: 'none', reason: 'not_supported' });
