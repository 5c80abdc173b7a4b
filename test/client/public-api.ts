// Written by `npm run docs` from docs/openapi/public.json.
export interface paths {
  '/api/op/v1/scenes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The scenes, their words and thresholds, and how well they are recognised
     * @description The enabled ones are valid as `scene_code`. The state of the inference backend never changes the list.
     */
    get: operations['listScenes'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * This document
     * @description Needs no key. `/docs` shows it in a browser.
     */
    get: operations['getOpenapiDocument'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/image-detections': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Detect objects in 1 to 10 images
     * @description Synchronous. Charged by the images that succeed. A client that got no answer repeats the call with the same Idempotency-Key.
     */
    post: operations['createImageDetection'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/image-detections/{task_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The detections of an image call that was answered
     * @description As the call was answered, until `result_expires_at`. Reading them costs nothing.
     */
    get: operations['getImageDetection'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Task history, image calls included */
    get: operations['listTasks'];
    put?: never;
    /**
     * Create a video task for a live stream
     * @description Costs one unit of the daily video quota. A stream that cannot be reached creates and costs nothing; why is not told, and the answer takes as long as for one that stays silent. A stream_url that cannot be used as it stands is refused at once. Looks at streams are limited at once and per minute (`probe_rate`).
     */
    post: operations['createStreamTask'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Query a task */
    get: operations['getTask'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/results': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Pull result frames of a video task */
    get: operations['getResults'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/tasks/{task_id}/stop': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Stop a task
     * @description Waits some seconds for the end; a task still `stopping` after that is driven on by the service.
     */
    post: operations['stopTask'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What is used and left of today's quota
     * @description Days begin at 00:00 UTC+8.
     */
    get: operations['getUsage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/usage/days': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What was used of the quota on each day
     * @description At most 92 days at once. Units that were given back are not counted on the day they were taken from. Days that have not begun and days that are kept no longer are left out.
     */
    get: operations['getUsageDays'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vision/video-tasks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Create a video task for an uploaded file
     * @description Costs one unit of the daily video quota. A refused upload leaves nothing behind and costs nothing.
     */
    post: operations['createUploadTask'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description Why a request was refused (RFC 9457). Without `code` on 403, 404, 405, 500 and conflicts of the admin API */
    Problem: {
      /** @description URN of the kind of problem: `urn:vision:problem:<details.reason>` */
      type: string;
      /** @description The kind of problem in words; the same for all answers of one status */
      title: string;
      /** @description The HTTP status */
      status: number;
      /** @description A sentence a person can act on; its wording may change */
      detail: string;
      /** @description `urn:request:<X-Request-Id>` */
      instance: string;
      code?: components['schemas']['ErrorCode'];
      details: components['schemas']['ProblemDetails'];
      /** @description As in the header X-Trace-Id; name it when you report a fault */
      trace_id: string;
      /** @description Whether the unchanged request may succeed later */
      retryable: boolean;
    };
    /**
     * @description What programs decide by
     * @enum {string}
     */
    ErrorCode:
      | 'OP-AUTH-REQUIRED'
      | 'OP-TASK-REQUEST-INVALID'
      | 'OP-TASK-SCENE-UNAVAILABLE'
      | 'OP-TASK-NOT-STOPPABLE'
      | 'OP-TASK-UPSTREAM-DOWN'
      | 'OP-TASK-BREAKER-OPEN'
      | 'OP-QUOTA-DAILY-EXHAUSTED'
      | 'OP-QUOTA-RATE-LIMITED'
      | 'OP-SYS-UNAVAILABLE';
    ProblemDetails: {
      /** @description What exactly went wrong, snake_case. Reasons keep their meaning; new ones may be added */
      reason: string;
      /** @description The header, parameter or field that is at fault */
      field?: string;
      /** @description OP-TASK-SCENE-UNAVAILABLE: the scene that was asked for */
      scene_code?: string;
      /** @description The state that a task has, where it stands in the way */
      status?: string;
      /** @description OP-QUOTA-DAILY-EXHAUSTED: units a day. OP-QUOTA-RATE-LIMITED: name or number of the limit */
      limit?: string | number;
      /** @description OP-QUOTA-RATE-LIMITED: how many may run at once */
      allowed?: number;
      /** @description OP-QUOTA-RATE-LIMITED: how many tasks run */
      active?: number;
      /** @description OP-QUOTA-DAILY-EXHAUSTED: units taken today */
      used?: number;
      /** @description OP-QUOTA-DAILY-EXHAUSTED: units this request needs */
      requested?: number;
      /**
       * Format: date-time
       * @description OP-QUOTA-DAILY-EXHAUSTED: when the next day begins
       */
      resets_at?: string;
      /** @description `verification_disproved`: what the backend shows of the job */
      evidence?: {
        /** @description The state of the job; null when the backend has none now */
        job_status: string | null;
        frames_published: number;
        /** @description The backend has shown the job at an earlier time */
        seen_before: boolean;
      };
      /** @description 405: methods of this path */
      allow?: string[];
    };
    SceneList: {
      scenes: components['schemas']['Scene'][];
    };
    /** @description What the service looks for */
    Scene: {
      scene_code: string;
      name: string;
      description: string;
      /** @description Only enabled scenes are accepted as `scene_code` */
      enabled: boolean;
      /** @description The words of the scene: every label of its objects is one */
      labels: string[];
      /** @description Detections below it are never stored */
      lower_bound: number;
      /** @description Read-time threshold frozen into a task at its creation */
      default_min_score: number;
      /** @description Absent when the operator states nothing */
      quality?: {
        /** @description How objects are found, in pictures and in video */
        method: string;
        /** @description What the figures were measured on; says so when nobody measured */
        measured_on: string;
        /** @description Empty when nobody measured */
        figures: components['schemas']['QualityFigure'][];
        /** @description What is missed or mistaken for something else, one sentence each */
        limits: string[];
      };
    };
    QualityFigure: {
      /**
       * @description `precision`: share of the reported objects that are right. `recall`: share of the real ones that are reported
       * @enum {string}
       */
      measure: 'precision' | 'recall' | 'false_alarms_per_hour' | 'seconds_to_first_alarm';
      /** @description The word of the scene that was measured */
      label: string;
      /** @enum {string} */
      input: 'picture' | 'video';
      /** @description Threshold the figure holds for */
      min_score: number;
      value: number;
    };
    OpenApiDocument: {
      openapi: string;
      info: {
        title: string;
        version: string;
      } & {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    /** @description The outcome of one image call */
    ImageDetection: {
      /**
       * Format: uuid
       * @description The record of this call in the task history
       */
      task_id: string;
      /** @description The Idempotency-Key as it was first sent */
      request_id: string;
      /**
       * @description The call; whether an image succeeded is said in its entry
       * @enum {string}
       */
      status: 'succeeded';
      /** @description One entry per image, in upload order */
      results: components['schemas']['ImageResult'][];
      /**
       * @description Only on a replay
       * @enum {boolean}
       */
      replayed?: true;
    };
    /** @description What became of one image */
    ImageResult: components['schemas']['SucceededImage'] | components['schemas']['FailedImage'];
    SucceededImage: {
      /** @description Position of the image in the upload, from 0 */
      seq: number;
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      status: 'succeeded';
      /** @description Detections, highest score first */
      objects: components['schemas']['DetectedObject'][];
    };
    /** @description One object in a picture */
    DetectedObject: {
      /** @description A word of the scene */
      label: string;
      /** @description Confidence: where the detector is calibrated, the probability that the box is right */
      score: number;
      bbox: components['schemas']['BoundingBox'];
    };
    /** @description A box by its centre and size, so that it fits a picture of any size */
    BoundingBox: {
      /** @enum {string} */
      format: 'cxcywh_normalized';
      /** @description Centre, as a share of the width of the picture */
      cx: number;
      /** @description Centre, as a share of the height of the picture */
      cy: number;
      /** @description As a share of the width of the picture */
      width: number;
      /** @description As a share of the height of the picture */
      height: number;
    };
    FailedImage: {
      /** @description Position of the image in the upload, from 0 */
      seq: number;
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      status: 'failed';
      /**
       * @description Why; a failed image is not charged
       * @enum {string}
       */
      error_code: 'OP-TASK-REQUEST-INVALID' | 'OP-TASK-UPSTREAM-DOWN' | 'OP-SYS-UNAVAILABLE';
    };
    NewImageDetection: {
      /** @description JPEG, PNG or WEBP, at most 8 MiB each, each with a file name */
      files: Blob[];
      /** @description An enabled scene; `fire_smoke` when absent */
      scene_code?: string;
    };
    /** @description The outcome of one image call, read again */
    StoredImageDetection: {
      /**
       * Format: uuid
       * @description The record of this call in the task history
       */
      task_id: string;
      /** @description The Idempotency-Key as it was first sent */
      request_id: string;
      /**
       * @description The call; whether an image succeeded is said in its entry
       * @enum {string}
       */
      status: 'succeeded';
      /** @description One entry per image, in upload order */
      results: components['schemas']['ImageResult'][];
      scene_code: string;
      /** Format: date-time */
      created_at: string;
      /**
       * Format: date-time
       * @description The detections are deleted then
       */
      result_expires_at: string;
    };
    TaskPage: {
      items: components['schemas']['TaskHistoryEntry'][];
      /** @description Empty on the last page */
      next_cursor: string;
    };
    /** @description One video task or one image call */
    TaskHistoryEntry: {
      /** Format: uuid */
      task_id: string;
      /** @description Idempotency-Key of the creating request, as it was sent */
      request_id: string;
      scene_code: string;
      status: components['schemas']['TaskStatus'];
      /**
       * Format: date-time
       * @description The results are deleted then
       */
      result_expires_at: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      /** @enum {string} */
      kind: 'video' | 'image';
    };
    /**
     * @description submitting: accepted and charged. resolving: it is being found out whether the inference backend has it. running: frames are produced. stopping: a stop was sent. stopped, succeeded, failed: over. refunded: it was never begun, and the unit was given back
     * @enum {string}
     */
    TaskStatus: 'submitting' | 'resolving' | 'running' | 'stopping' | 'stopped' | 'succeeded' | 'failed' | 'refunded';
    /** @description One video task */
    Task: {
      /** Format: uuid */
      task_id: string;
      /** @description Idempotency-Key of the creating request, as it was sent */
      request_id: string;
      scene_code: string;
      status: components['schemas']['TaskStatus'];
      /**
       * Format: date-time
       * @description The results are deleted then
       */
      result_expires_at: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    NewStreamTask: {
      /** @description An enabled scene */
      scene_code: string;
      /** @description http, https, rtsp or rtmp; may carry user information. The host is a public IP address or a name that is complete (`camera.example.org`, not `camera`): neither search lists nor hosts files are used. The port is one that streams usually come from */
      stream_url: string;
    };
    ResultPage: {
      items: components['schemas']['ResultFrame'][];
      /** @description Empty when there is no further stored frame now */
      next_cursor: string;
      /** @description Goes on after this page, also for frames still to come; empty when the task is over and all was delivered */
      resume_cursor: string;
    };
    /** @description One analysed frame of a video task */
    ResultFrame: {
      /** @description <task_id>-<number of the frame> */
      frame_id: string;
      /**
       * Format: int64
       * @description Files: offset in the video (PTS). Live streams: Unix time. In milliseconds
       */
      frame_time_ms: number;
      image: components['schemas']['ImageSize'];
      /** @description At or above the effective score, highest first */
      objects: components['schemas']['TrackedObject'][];
      /** @description Objects before the filter; only with min_score */
      objects_total?: number;
    };
    /** @description Size in pixels, after orientation */
    ImageSize: {
      width: number;
      height: number;
    };
    /** @description One object in a video frame */
    TrackedObject: {
      /** @description A word of the scene */
      label: string;
      /** @description Confidence: where the detector is calibrated, the probability that the box is right */
      score: number;
      bbox: components['schemas']['BoundingBox'];
      /** @description The same in all frames in which it is the same object */
      track_id: string;
    };
    Usage: {
      video: components['schemas']['DailyUsage'];
      image: components['schemas']['DailyUsage'];
    };
    /** @description One of the day's quotas */
    DailyUsage: {
      /** @description Units a day */
      limit: number;
      /** @description Units taken today, those of work that is not decided yet included */
      used: number;
      remaining: number;
      /**
       * Format: date-time
       * @description 00:00 UTC+8 of the next day
       */
      resets_at: string;
    };
    UsageDays: {
      items: components['schemas']['UsageDay'][];
    };
    /** @description What was used on one day */
    UsageDay: {
      /**
       * Format: date
       * @description YYYY-MM-DD in UTC+8
       */
      day: string;
      /** @description Video tasks charged, those that are not decided yet included */
      video: number;
      /** @description Images charged, those that are not decided yet included */
      image: number;
    };
    NewUploadTask: {
      /** @description An enabled scene */
      scene_code: string;
      /**
       * Format: binary
       * @description MP4 or MOV by content, at most 512 × 2^20 bytes, with a file name
       */
      file: Blob;
    };
  };
  responses: {
    /** @description - `not_found`: There is nothing at this address. */
    NotFound: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id'];
        'X-Trace-Id': components['headers']['X-Trace-Id'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        RateLimit: components['headers']['RateLimit'];
        'Cache-Control': components['headers']['Cache-Control'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    /** @description - `method_not_allowed`: Use GET. */
    MethodNotAllowed: {
      headers: {
        'X-Request-Id': components['headers']['X-Request-Id'];
        'X-Trace-Id': components['headers']['X-Trace-Id'];
        'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        RateLimit: components['headers']['RateLimit'];
        'Cache-Control': components['headers']['Cache-Control'];
        Allow: components['headers']['Allow'];
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: {
    /** @description Id of this request: the one that was sent with it, or a new one */
    'X-Request-Id': string;
    /** @description Id of the trace of this request; name it when you report a fault */
    'X-Trace-Id': string;
    /** @description The limits that count this request (draft-ietf-httpapi-ratelimit-headers): `q` in `w` seconds, or at once */
    'RateLimit-Policy': string;
    /** @description What is left of them: `r` requests, more after `t` seconds */
    RateLimit: string;
    /** @description The answer holds a secret or speaks of this moment only */
    'Cache-Control': 'no-store';
    /** @description Methods of this path */
    Allow: string;
    /** @description How to authenticate */
    'WWW-Authenticate': 'Bearer';
    /** @description Seconds after which a retry makes sense */
    'Retry-After': number;
    /** @description The request was known by its Idempotency-Key; nothing was charged again */
    'Idempotency-Replayed': 'true';
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listScenes: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description All scenes */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "scenes": [
           *         {
           *           "scene_code": "person_vehicle",
           *           "name": "Persons and vehicles",
           *           "description": "Persons, bicycles, cars and other vehicles",
           *           "enabled": true,
           *           "labels": [
           *             "person",
           *             "bicycle",
           *             "car"
           *           ],
           *           "lower_bound": 0.3,
           *           "default_min_score": 0.8,
           *           "quality": {
           *             "method": "A small neural network; judges each picture and each frame of a video by itself.",
           *             "measured_on": "A surveillance video of a square in daylight, 665 people",
           *             "figures": [
           *               {
           *                 "measure": "recall",
           *                 "label": "person",
           *                 "input": "video",
           *                 "min_score": 0.8,
           *                 "value": 0.84
           *               }
           *             ],
           *             "limits": [
           *               "Objects lower than a twentieth of the picture's height are missed."
           *             ]
           *           }
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['SceneList'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getOpenapiDocument: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OpenAPI 3.1 */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OpenApiDocument'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `openapi_document_missing`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createImageDetection: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID of your own for each request. Sent again with the same request, it returns what that request began; with another request it is refused */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'multipart/form-data': components['schemas']['NewImageDetection'];
      };
    };
    responses: {
      /** @description The original outcome of this Idempotency-Key */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "status": "succeeded",
           *       "results": [
           *         {
           *           "seq": 0,
           *           "status": "succeeded",
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.86,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               }
           *             }
           *           ]
           *         },
           *         {
           *           "seq": 1,
           *           "status": "failed",
           *           "error_code": "OP-TASK-REQUEST-INVALID"
           *         }
           *       ],
           *       "replayed": true
           *     }
           */
          'application/json': components['schemas']['ImageDetection'];
        };
      };
      /** @description The outcome of every image */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "status": "succeeded",
           *       "results": [
           *         {
           *           "seq": 0,
           *           "status": "succeeded",
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.86,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               }
           *             }
           *           ]
           *         },
           *         {
           *           "seq": 1,
           *           "status": "failed",
           *           "error_code": "OP-TASK-REQUEST-INVALID"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['ImageDetection'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `idempotency_key_missing`: Send an Idempotency-Key header with a UUID of your own.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_invalid`: Send one Idempotency-Key in UUID form (8-4-4-4-12).
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_reused`: This Idempotency-Key was used for another request; send a new key for a new request.
       *     - OP-TASK-REQUEST-INVALID, `image_count_out_of_range`: Send 1 to 10 images in the field "files".
       *     - OP-TASK-REQUEST-INVALID, `image_too_large`: An image is larger than 8388608 bytes.
       *     - OP-TASK-REQUEST-INVALID, `image_type_unsupported`: Send images as JPEG, PNG or WEBP, and declare them as such.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-DAILY-EXHAUSTED, `daily_quota_exhausted`: Today's quota does not cover this request.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `processor_time_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is not accepted at the moment; nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance; new work is not accepted.
       *     - OP-SYS-UNAVAILABLE, `first_call_still_running`: A part of the service is not reachable; retry with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getImageDetection: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The call */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "status": "succeeded",
           *       "results": [
           *         {
           *           "seq": 0,
           *           "status": "succeeded",
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.86,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               }
           *             }
           *           ]
           *         },
           *         {
           *           "seq": 1,
           *           "status": "failed",
           *           "error_code": "OP-TASK-REQUEST-INVALID"
           *         }
           *       ],
           *       "scene_code": "person_vehicle",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z"
           *     }
           */
          'application/json': components['schemas']['StoredImageDetection'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listTasks: {
    parameters: {
      query?: {
        /** @description next_cursor of the page before */
        cursor?: string;
        /** @description Tasks a page */
        limit?: number;
        /** @description submitting: accepted and charged. resolving: it is being found out whether the inference backend has it. running: frames are produced. stopping: a stop was sent. stopped, succeeded, failed: over. refunded: it was never begun, and the unit was given back */
        status?: components['schemas']['TaskStatus'];
        scene_code?: string;
        kind?: 'video' | 'image';
        /** @description Only what was created at this instant or later */
        created_after?: string;
        /** @description Only what was created before this instant */
        created_before?: string;
        /** @description Which come first; the same for all pages */
        order?: 'newest' | 'oldest';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One page */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *           "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *           "scene_code": "person_vehicle",
           *           "status": "running",
           *           "result_expires_at": "2026-06-13T08:30:00.000Z",
           *           "created_at": "2026-03-15T08:30:00.000Z",
           *           "updated_at": "2026-03-15T08:30:01.250Z",
           *           "kind": "video"
           *         }
           *       ],
           *       "next_cursor": ""
           *     }
           */
          'application/json': components['schemas']['TaskPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `cursor_invalid`: Use a next_cursor of this list.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: Unrecognized key: "colour".
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createStreamTask: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID of your own for each request. Sent again with the same request, it returns what that request began; with another request it is refused */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "scene_code": "person_vehicle",
         *       "stream_url": "rtsp://user:secret@camera.example.org/yard"
         *     }
         */
        'application/json': components['schemas']['NewStreamTask'];
      };
    };
    responses: {
      /** @description Idempotent replay: the task as it is now */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description Created. `refunded` when the inference backend refused it: nothing was charged */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description The backend may have it (`resolving`): poll the task, do not resend with a new key */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "resolving",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `stream_url_invalid`: The stream_url must begin with http://, https://, rtsp:// or rtmp://.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: The body holds a field that is not known.
       *     - OP-TASK-REQUEST-INVALID, `scene_code_invalid`: Send scene_code as a text.
       *     - OP-TASK-REQUEST-INVALID, `stream_unreachable`: The stream could not be reached or did not answer as a stream.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_missing`: Send an Idempotency-Key header with a UUID of your own.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_invalid`: Send one Idempotency-Key in UUID form (8-4-4-4-12).
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_reused`: This Idempotency-Key was used for another request; send a new key for a new request.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `probe_rate`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-DAILY-EXHAUSTED, `daily_quota_exhausted`: Today's quota does not cover this request.
       *     - OP-QUOTA-RATE-LIMITED, `active_tasks`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is temporarily unavailable; nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is not accepted at the moment; nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance; new work is not accepted.
       *     - OP-SYS-UNAVAILABLE, `first_request_still_running`: A part of the service is not reachable; retry with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The task */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "succeeded",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getResults: {
    parameters: {
      query?: {
        /** @description next_cursor or resume_cursor of an earlier page of this task */
        cursor?: string;
        /** @description Frames a page */
        limit?: number;
        /** @description Raised to the lower bound inference wrote with; the threshold of the task when absent */
        min_score?: number;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One page of frames, in the order of the video */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "frame_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-0",
           *           "frame_time_ms": 40,
           *           "image": {
           *             "width": 1920,
           *             "height": 1080
           *           },
           *           "objects": [
           *             {
           *               "label": "person",
           *               "score": 0.91,
           *               "bbox": {
           *                 "format": "cxcywh_normalized",
           *                 "cx": 0.42,
           *                 "cy": 0.55,
           *                 "width": 0.08,
           *                 "height": 0.31
           *               },
           *               "track_id": "7"
           *             }
           *           ]
           *         }
           *       ],
           *       "next_cursor": "",
           *       "resume_cursor": "AQAAAAAAAAAAAAAAKHs3bq1mS0Vt0hYw4nQyQ2U"
           *     }
           */
          'application/json': components['schemas']['ResultPage'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: limit: send a whole number from 1 to 500.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: Only cursor, limit, min_score are accepted.
       *     - OP-TASK-REQUEST-INVALID, `cursor_invalid`: cursor: send next_cursor or resume_cursor of an answer for this task.
       *     - OP-TASK-REQUEST-INVALID, `not_a_video_task`: An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  stopTask: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The task */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "stopped",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - `task_not_found`: There is no such task.
       *     - `not_found`: There is no such resource.
       */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-TASK-NOT-STOPPABLE, `task_ended`: The task has already ended (succeeded). */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getUsage: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Today's usage */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "video": {
           *         "limit": 5,
           *         "used": 2,
           *         "remaining": 3,
           *         "resets_at": "2026-03-16T00:00:00+08:00"
           *       },
           *       "image": {
           *         "limit": 100,
           *         "used": 37,
           *         "remaining": 63,
           *         "resets_at": "2026-03-16T00:00:00+08:00"
           *       }
           *     }
           */
          'application/json': components['schemas']['Usage'];
        };
      };
      /** @description - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getUsageDays: {
    parameters: {
      query?: {
        /** @description First day, YYYY-MM-DD in UTC+8; default: 30 days up to `to` */
        from?: string;
        /** @description Last day, which belongs to the answer; default: today */
        to?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The days, first day first */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "day": "2026-03-14",
           *           "video": 5,
           *           "image": 12
           *         },
           *         {
           *           "day": "2026-03-15",
           *           "video": 2,
           *           "image": 37
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['UsageDays'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `query_invalid`: from must not be later than to.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: colour: Unrecognized key: "colour".
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createUploadTask: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID of your own for each request. Sent again with the same request, it returns what that request began; with another request it is refused */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'multipart/form-data': components['schemas']['NewUploadTask'];
      };
    };
    responses: {
      /** @description Idempotent replay: the task as it is now */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description Created. `refunded` when the inference backend refused it: nothing was charged */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "running",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /** @description The backend may have it (`resolving`): poll the task, do not resend with a new key */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
           *       "request_id": "8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31",
           *       "scene_code": "person_vehicle",
           *       "status": "resolving",
           *       "result_expires_at": "2026-06-13T08:30:00.000Z",
           *       "created_at": "2026-03-15T08:30:00.000Z",
           *       "updated_at": "2026-03-15T08:30:01.250Z"
           *     }
           */
          'application/json': components['schemas']['Task'];
        };
      };
      /**
       * @description - OP-TASK-REQUEST-INVALID, `file_missing`: Send one video in the field "file".
       *     - OP-TASK-REQUEST-INVALID, `file_too_large`: The file is larger than 536870912 bytes.
       *     - OP-TASK-REQUEST-INVALID, `file_type_unsupported`: The file is no MP4 or MOV video.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_missing`: Send an Idempotency-Key header with a UUID of your own.
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_invalid`: Send one Idempotency-Key in UUID form (8-4-4-4-12).
       *     - OP-TASK-REQUEST-INVALID, `idempotency_key_reused`: This Idempotency-Key was used for another request; send a new key for a new request.
       *     - OP-TASK-SCENE-UNAVAILABLE, `scene_unavailable`: This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.
       *     - OP-TASK-REQUEST-INVALID, `unknown_field`: This operation takes no query parameters.
       */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-AUTH-REQUIRED, `api_key_missing`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       *     - OP-AUTH-REQUIRED, `api_key_invalid`: Send a valid API key in the header "Authorization: Bearer <API_KEY>".
       */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'Cache-Control': components['headers']['Cache-Control'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-QUOTA-RATE-LIMITED, `too_many_in_flight`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `processor_time_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-DAILY-EXHAUSTED, `daily_quota_exhausted`: Today's quota does not cover this request.
       *     - OP-QUOTA-RATE-LIMITED, `active_tasks`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `rate_exceeded`: Too many requests at once; retry after the time in Retry-After.
       *     - OP-QUOTA-RATE-LIMITED, `too_many_invalid_keys`: Too many requests at once; retry after the time in Retry-After.
       */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description - `internal`: Something went wrong on our side. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /**
       * @description - OP-TASK-UPSTREAM-DOWN, `inference_unreachable`: The inference backend is temporarily unavailable; nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `breaker_open`: New work is not accepted at the moment; nothing was charged.
       *     - OP-TASK-BREAKER-OPEN, `maintenance`: The service is under maintenance; new work is not accepted.
       *     - OP-SYS-UNAVAILABLE, `first_request_still_running`: A part of the service is not reachable; retry with the same Idempotency-Key.
       *     - OP-SYS-UNAVAILABLE, `key_store_unavailable`: A part of the service is not reachable; retry with the same Idempotency-Key.
       */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'X-Trace-Id': components['headers']['X-Trace-Id'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          RateLimit: components['headers']['RateLimit'];
          'Cache-Control': components['headers']['Cache-Control'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
}
