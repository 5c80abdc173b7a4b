/** Tables of results with rows of a task by its `task_id`, all of which a deletion of the task removes. */
export const resultTablesOfATask = [
  'frames',
  'segments',
  'late_frames',
  'segment_copies',
  'tracks',
  'timeline_hours',
  'folds',
  'sources',
  'source_states',
  'task_views',
  'track_snapshots',
];
