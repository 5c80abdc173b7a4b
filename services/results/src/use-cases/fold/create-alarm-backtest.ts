import { setImmediate } from 'node:timers/promises';
import { createdAtMsOf } from '@vision/contracts/ids';
import type { RuleWhen } from '@vision/contracts/alarm-rules';
import { findSourceRecord } from '../../db/sources.ts';
import { Backtest, completeUntil } from '../../domain/backtest.ts';
import type { BacktestReport, TriedRule } from '../../domain/backtest.ts';
import type { SourceRecord } from '../../domain/describe-source.ts';
import { paceOf } from '../../domain/fold/pace.ts';
import type { Pace } from '../../domain/fold/pace.ts';
import { toEvaluated } from '../../domain/fold/rules.ts';
import { effectiveScore } from '../../domain/result-query.ts';
import type { TimeRange } from '../../domain/result-query.ts';
import type { ReadableTask } from '../../domain/task-view.ts';
import type { Deps } from '../deps.ts';
import { findTask, learnKind, taskNotFound } from '../read/find-task.ts';
import { openFrames } from '../read/fold-pages.ts';
import { rangeOf } from '../read/read-page.ts';
import { isIn, nextStep } from '../read/read-selected.ts';
import { mayShow } from '../read/show-frames.ts';

export type BacktestDeps = Pick<Deps, 'backtests' | 'db' | 'settings' | 'signals' | 'store' | 'taskOwners'>;

export interface BacktestRequest {
  subject: string;
  taskId: string;
  rule: TriedRule;
  times: TimeRange;
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal;
}

/** A backtest stops after this time and returns the alarms so far. */
const MOST_MS = 10_000;
/** Frames whose segments are opened together, and frames that are evaluated before other work gets the processor. */
const OPENED = 5_000;
const PAGE = 500;

/** Evaluates a rule over the stored frames of a task. Stores nothing and notifies no one. */
export async function createAlarmBacktest(deps: BacktestDeps, request: BacktestRequest): Promise<BacktestReport> {
  const { subject, taskId, signal } = request;
  const task = await findTask(deps, subject, taskId);
  const record = await findSourceRecord(deps.db, taskId);
  if (!record) throw taskNotFound();
  const kind = record.kind ?? (await learnKind(deps, subject, taskId));
  const work = () => evaluateStored(deps, request, { task, record, isLive: kind === 'stream' });
  return deps.backtests.run(work, { signal, owner: subject });
}

interface Found {
  task: ReadableTask;
  record: SourceRecord;
  isLive: boolean;
}

async function evaluateStored(deps: BacktestDeps, request: BacktestRequest, found: Found): Promise<BacktestReport> {
  const { taskId, rule, times } = request;
  const { task, record, isLive } = found;
  const pace = paceOf(record.source?.snapshot.sample_fps);
  const createdMs = isLive ? createdAtMsOf(taskId) : times.fromMs;
  const threshold = Math.ceil(minScoreOf(rule.when, task) * 1e6 - 1e-6);
  const backtest = new Backtest(rule, { taskId, threshold, isLive, createdMs, pace }, times);
  const isWhole = await evaluateFrames(deps, request, { task, backtest });
  const untilMs = isWhole ? evaluateEnd(backtest, times, { ...found, pace }) : undefined;
  return backtest.report(untilMs);
}

/** Returns whether every frame of the time was evaluated. */
async function evaluateFrames(
  deps: BacktestDeps,
  { taskId, rule, times, signal }: BacktestRequest,
  { task, backtest }: { task: ReadableTask; backtest: Backtest },
): Promise<boolean> {
  const range = rangeOf(taskId, task);
  const endsAt = performance.now() + MOST_MS;
  const labels = 'labels' in rule.when ? new Set(rule.when.labels) : undefined;
  const shown = { minScore: minScoreOf(rule.when, task), objects: { labels } };
  const isNeeded = (segment: Parameters<typeof mayShow>[0]) => labels !== undefined && mayShow(segment, shown);
  for (let seq = -1; range && seq !== Infinity;) {
    const { frames, upTo } = await nextStep(deps, range, { seq, times, wanted: Infinity });
    const inTime = frames.filter(({ frameTimeMs }) => isIn(frameTimeMs, times));
    for (let at = 0; at < inTime.length; at += OPENED) {
      const opened = await openFrames(deps, inTime.slice(at, at + OPENED), { isNeeded, signal });
      for (const [index, frame] of opened.entries()) {
        if (!backtest.add(toEvaluated(frame))) return false;
        if ((index + 1) % PAGE > 0) continue;
        await setImmediate();
        signal.throwIfAborted();
        if (performance.now() > endsAt) return false;
      }
    }
    signal.throwIfAborted();
    if (performance.now() > endsAt) return upTo === Infinity;
    seq = upTo;
  }
  return true;
}

/**
 * Evaluates the time after the last frame: silence of a stream, or the end of the task. Returns the time before which
 * every frame is stored, if it is after the last frame.
 */
function evaluateEnd(
  backtest: Backtest,
  { fromMs, toMs }: TimeRange,
  found: Found & { pace: Pace },
): number | undefined {
  const { task, record, isLive, pace } = found;
  // The record was read before the frames: frames that were stored in between are no part of the silence.
  const { nowMs } = record;
  const isOver = task.is_complete || task.is_long_over;
  const endedMs = isOver && record.endedAtMs !== null ? record.endedAtMs : undefined;
  const untilMs = completeUntil({ toMs, isLive, isOver, endedMs, nowMs, reachedMs: backtest.reachedMs, pace });
  if (!isLive) {
    if (isOver && backtest.lastSeq === record.maxSeq) backtest.end(task.status, undefined);
    return untilMs;
  }
  backtest.silentTo(Math.min(toMs, endedMs ?? nowMs));
  if (endedMs !== undefined && endedMs >= fromMs && endedMs < toMs) backtest.end(task.status, endedMs);
  return untilMs;
}

const minScoreOf = (when: RuleWhen, task: ReadableTask): number =>
  effectiveScore('min_score' in when ? when.min_score : undefined, {
    lowerBound: task.lower_bound,
    defaultMinScore: task.default_min_score,
  });
