import { z } from 'zod';
import { happening } from '@vision/contracts/history';
import { uuidForm } from '@vision/contracts/ids';
import {
  exampleTaskRecord,
  internalTask,
  jobFilter,
  listBackendJobs as listBackendJobsQuestion,
  listInternalTasks,
  taskFilter,
} from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listBackendJobs } from '../../use-cases/list-backend-jobs.ts';
import { listTasksOfAll } from '../../use-cases/list-tasks-of-all.ts';
import { showTask, taskUnknown } from '../../use-cases/show-task.ts';
import { stopTask } from '../../use-cases/stop-task.ts';
import { verifyTask } from '../../use-cases/verify-task.ts';
import { actorOf, operatorHeaders, operatorInvalid, subject, words } from './schemas.ts';

const idPath = z.object({ id: uuidForm });
const stop = z.strictObject({ reason: words(1000).default('') }).meta({ id: 'TaskStop' });

const facts = z.record(z.string(), z.unknown());
const shownTask = z
  .object({
    task_id: z.uuid(),
    facts: z.object({
      tasks: facts.optional(),
      images: facts.optional(),
      results: facts.optional(),
      quota: facts.optional(),
    }),
    timeline: z.array(happening.extend({ source: z.string() })).describe('Oldest first'),
    unreachable: z.array(z.string()).describe('Services that did not answer'),
  })
  .meta({ id: 'ShownTask', description: 'Returns the history of a task from every service' });

const exampleShownTask: z.infer<typeof shownTask> = {
  task_id: exampleTaskRecord.task_id,
  facts: {
    tasks: { status: 'running', subject: 'acme', job_at_backend: { status: 'running', frames_published: 118 } },
    results: { frames_stored: 118, attempt: 0 },
    quota: { [exampleTaskRecord.reservation_id]: { state: 'open', units: 1, charged: 1, day: '2026-03-15' } },
  },
  timeline: [
    { at: '2026-03-15T08:30:00.000Z', source: 'tasks', what: 'the create arrived', details: {} },
    {
      at: '2026-03-15T08:30:00.120Z',
      source: 'tasks',
      what: 'accept: submitting → running',
      details: { actor: 'service', version: 4, attempt: 1 },
    },
  ],
  unreachable: [],
};

const exampleJobs: z.infer<typeof listBackendJobsQuestion.reply> = {
  items: [
    {
      task_id: exampleTaskRecord.task_id,
      subject: 'acme',
      status: 'running',
      age_s: 95,
      job: { job_id: exampleTaskRecord.task_id, status: 'running', frames_published: 118, attempt: 0 },
    },
  ],
  next_cursor: '',
};

const verification = z
  .strictObject({ outcome: z.enum(['created', 'not_created']), note: words(1000).default('') })
  .meta({ id: 'TaskVerification' });

export const listTasksOfAllRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listTasksOfAll',
      method: 'get',
      path: '/admin/v1/tasks',
      summary: 'Lists tasks and image calls of all subjects',
      description: 'With `status=resolving`: the tasks that wait for verification, with their age and the known facts.',
      tag: 'Tasks',
      audience: 'admin',
      query: z.strictObject({ ...taskFilter.shape, subject: subject.optional() }),
      responses: {
        200: {
          description: 'One page',
          schema: listInternalTasks.reply,
          example: { items: [exampleTaskRecord], next_cursor: '' },
        },
      },
      refusalExamples: () => [fail.sysUnavailable('tasks_unavailable')],
    },
    async ({ query, signal }) => ({ status: 200, body: await listTasksOfAll(deps, query, signal) }),
  );

export const showTaskRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'showTask',
      method: 'get',
      path: '/admin/v1/tasks/{id}',
      summary: 'Returns what all services know of a task or image call, in order of time',
      description: 'Row, changes of state, job, frames, events of the last days, reservation, actions of operators.',
      tag: 'Tasks',
      audience: 'admin',
      params: idPath,
      responses: { 200: { description: 'From every service', schema: shownTask, example: exampleShownTask } },
      refusalExamples: () => [taskUnknown()],
    },
    async ({ params, signal }) => ({ status: 200, body: await showTask(deps, params.id, signal) }),
  );

export const stopTaskRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'stopTaskOfAny',
      method: 'post',
      path: '/admin/v1/tasks/{id}/stop',
      summary: 'Stops a task on behalf of an operator',
      description: 'Works like a stop by its owner: returns `stopping` if the backend has not confirmed it in time.',
      tag: 'Tasks',
      audience: 'admin',
      headers: operatorHeaders,
      params: idPath,
      body: stop,
      bodyExample: { reason: 'the camera is not theirs' },
      responses: {
        200: { description: 'The task', schema: internalTask, example: { ...exampleTaskRecord, status: 'stopped' } },
      },
      refusalExamples: () => [
        operatorInvalid(),
        taskUnknown(),
        fail.notStoppable('succeeded'),
        fail.sysUnavailable('tasks_unavailable'),
      ],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await stopTask(deps, { taskId: params.id, reason: body.reason, actor: actorOf(req) }),
    }),
  );

export const listBackendJobsRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listBackendJobs',
      method: 'get',
      path: '/admin/v1/jobs',
      summary: 'Lists tasks that have not ended, each with the current state of its job at the inference backend',
      tag: 'Tasks',
      audience: 'admin',
      query: z.strictObject({ ...jobFilter.shape, subject: subject.optional() }),
      responses: {
        200: { description: 'Oldest first', schema: listBackendJobsQuestion.reply, example: exampleJobs },
      },
      refusalExamples: () => [fail.upstreamDown('inference_unreachable'), fail.sysUnavailable('tasks_unavailable')],
    },
    async ({ query, signal }) => ({ status: 200, body: await listBackendJobs(deps, query, signal) }),
  );

export const verifyTaskRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'verifyTask',
      method: 'post',
      path: '/admin/v1/tasks/{id}/verification',
      summary: 'Records whether the inference backend created the job of a task',
      description: 'Repeating an outcome changes nothing; contradicting it is 409.',
      tag: 'Tasks',
      audience: 'admin',
      headers: operatorHeaders,
      params: idPath,
      body: verification,
      bodyExample: { outcome: 'not_created', note: 'The backend has no such job' },
      responses: {
        200: { description: 'The task', schema: internalTask, example: { ...exampleTaskRecord, status: 'refunded' } },
      },
      refusalExamples: () => [
        operatorInvalid(),
        taskUnknown(),
        fail.verificationContradicts('running'),
        fail.verificationDisproved({ job_status: 'running', frames_published: 118, seen_before: false }),
        fail.taskNotResolving('running'),
        fail.upstreamDown('inference_unreachable'),
        fail.sysUnavailable('tasks_unavailable'),
      ],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await verifyTask(deps, { taskId: params.id, ...body, actor: actorOf(req) }),
    }),
  );
