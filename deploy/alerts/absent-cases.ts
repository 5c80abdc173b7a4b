import type { AlertCase } from './cases.ts';
import { growing, steady, together, values } from './series.ts';
import type { Series } from './series.ts';

const MINUTES = 30;
const SERVICES = ['gateway', 'tasks', 'images', 'results', 'quota', 'notify', 'inference'];

/** Replicas of all services but some, of which Prometheus has no target at all. */
const allBut = (...gone: string[]) =>
  together(...SERVICES.filter((service) => !gone.includes(service)).map((service) => replicaOf(service, 1)));

function replicaOf(service: string, up: number): Series {
  return together(
    steady(`up{service="${service}",pod="${service}-1"}`, up, MINUTES),
    // A target that cannot be read has stale series.
    up === 1 ? steady(`vision_build_info{service="${service}",pod="${service}-1"}`, 1, MINUTES) : {},
  );
}

const running = (tasks: number) => steady('vision_tasks_active{service="tasks",status="running"}', tasks, MINUTES);
const sources = (state: string) => steady(`vision_sources{state="${state}"}`, 3, MINUTES);
const noNewFrame = steady('vision_results_frames_stored_total', 9, MINUTES);
const newFrames = growing('vision_results_frames_stored_total', 5, MINUTES);

/** Alerts about series that do not exist. */
export const absentCases: Record<string, AlertCase> = {
  VisionServiceUnseen: {
    atMinute: 8,
    fires: {
      when: together(replicaOf('tasks', 0), steady('up{service="tasks",pod="tasks-2"}', 0, MINUTES)),
      labels: { service: 'tasks' },
      summary: 'No replica of tasks gives its metrics',
    },
    firesToo: {
      'there is no pod of inference': {
        when: allBut('inference'),
        labels: { service: 'inference' },
        summary: 'No replica of inference gives its metrics',
      },
      'the gateway was scaled to 0': {
        when: together(allBut('gateway'), values('up{service="gateway",pod="gateway-1"}', '1 1 stale')),
        labels: { service: 'gateway' },
        summary: 'No replica of gateway gives its metrics',
      },
    },
    stays: {
      'all services are there': allBut(),
      'a replica that is replaced': together(allBut(), steady('up{service="tasks",pod="tasks-2"}', 0, MINUTES)),
      'a pod that comes back within minutes': together(
        allBut('inference'),
        values('up{service="inference",pod="inference-1"}', '1 1 stale _ _ 1x20'),
      ),
    },
  },
  VisionNothingSeen: {
    atMinute: 20,
    fires: {
      when: values('vision_build_info{service="tasks",pod="tasks-1"}', '1x10 stale'),
      summary: 'No process of the service gives its metrics',
    },
    firesToo: {
      'nothing was ever scraped': {
        when: {},
        labels: { namespace: undefined },
        summary: 'No process of the service gives its metrics',
      },
    },
    stays: {
      'one service is there': allBut('gateway', 'images', 'results', 'quota', 'notify', 'inference'),
      'a restart of everything': values('vision_build_info{service="tasks",pod="tasks-1"}', '1x10 stale _ _ 1x20'),
    },
  },
  VisionNoFrames: {
    atMinute: 15,
    fires: {
      when: together(sources('running'), noNewFrame),
      summary: '3 live sources or video tasks run and no frame becomes readable',
    },
    firesToo: {
      'there is no pod of inference': {
        when: together(allBut('inference'), running(10), noNewFrame),
        summary: '10 live sources or video tasks run and no frame becomes readable',
      },
      'there is no pod of inference nor of results': {
        when: together(allBut('inference', 'results'), running(10)),
        summary: '10 live sources or video tasks run and no frame becomes readable',
      },
    },
    stays: {
      'frames that come': together(sources('running'), newFrames),
      'cameras that send nothing': together(allBut(), running(3), sources('stalled'), noNewFrame),
      'no task runs, and no inference': together(allBut('inference'), running(0), noNewFrame),
      'a backend in the place of ours, which the chart leaves out of the rules': together(running(3), noNewFrame),
    },
  },
  VisionOutboxUnseen: {
    atMinute: 20,
    fires: {
      when: together(allBut('results'), ages('images', 'notify')),
      labels: { service: 'tasks' },
      summary: 'No replica of tasks says how long its events wait for Kafka',
    },
    stays: { 'a relay that has nothing to do': together(allBut(), ages('tasks', 'images', 'results', 'notify')) },
  },
  VisionWatchdog: {
    atMinute: 1,
    fires: { when: {}, labels: { namespace: undefined }, summary: 'Alerts are evaluated and sent' },
    stays: {},
  },
};

function ages(...services: string[]): Series {
  return together(
    ...services.map((service) => steady(`vision_outbox_oldest_age_seconds{service="${service}"}`, 0, MINUTES)),
  );
}
