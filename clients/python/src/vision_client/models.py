"""Models of the public API, written by `make python-client UPDATE=1` from docs/openapi/public.json."""

from __future__ import annotations

from typing import Annotated, Any, Dict, Literal
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    confloat,
    conint,
    constr,
)
from uuid import UUID
from datetime import date


class Evidence(BaseModel):
    """
    `verification_disproved`: what the backend reports about the job
    """

    job_status: str | None
    """
    Status of the job; null if the backend does not have it
    """
    frames_published: float
    seen_before: bool
    """
    True if the backend reported the job earlier
    """


class ProblemDetails(BaseModel):
    reason: str
    """
    Machine-readable reason, snake_case. Reasons keep their meaning; new ones may be added.
    """
    field: str | None = None
    """
    Header, parameter or field that caused the error
    """
    scope: str | None = None
    """
    `scope_missing`: scope that the operation requires
    """
    scene_code: str | None = None
    """
    OP-TASK-SCENE-UNAVAILABLE: requested scene
    """
    status: str | None = None
    """
    Status of the task that prevents the request
    """
    limit: str | float | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: units per day. OP-QUOTA-RATE-LIMITED: name or value of the limit.
    """
    allowed: float | None = None
    """
    OP-QUOTA-RATE-LIMITED: maximum number at once
    """
    active: float | None = None
    """
    OP-QUOTA-RATE-LIMITED: number of active tasks
    """
    used: float | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: units used today
    """
    requested: float | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: units required by this request
    """
    resets_at: AwareDatetime | None = None
    """
    OP-QUOTA-DAILY-EXHAUSTED: start of the next quota day
    """
    evidence: Evidence | None = None
    """
    `verification_disproved`: what the backend reports about the job
    """
    bytes: int | None = None
    """
    416: size of the content
    """
    allow: list[str] | None = None
    """
    405: methods that the path supports
    """


class QualityFigure(BaseModel):
    measure: (
        Literal[
            'precision', 'recall', 'false_alarms_per_hour', 'seconds_to_first_alarm'
        ]
        | str
    )
    """
    `precision`: share of reported objects that are correct. `recall`: share of real objects that are reported.
    """
    label: constr(min_length=1)
    """
    Label that was measured
    """
    input: Literal['picture', 'video'] | str
    min_score: confloat(ge=0.0, le=1.0)
    """
    Score threshold that the figure applies to
    """
    value: confloat(ge=0.0)


class Info(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    __annotations__ = {
        '__pydantic_extra__': Dict[str, Any],
    }
    title: str
    version: str


class OpenApiDocument(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    __annotations__ = {
        '__pydantic_extra__': Dict[str, Any],
    }
    openapi: str
    info: Info


class BoundingBox(BaseModel):
    """
    Box as centre and size, relative to the image size
    """

    format: Literal['cxcywh_normalized'] | str
    cx: confloat(ge=0.0, le=1.0)
    """
    Horizontal centre of the box, 0 to 1 of the image width
    """
    cy: confloat(ge=0.0, le=1.0)
    """
    Vertical centre of the box, 0 to 1 of the image height
    """
    width: confloat(ge=0.0, le=1.0)
    """
    Width of the box, 0 to 1 of the image width
    """
    height: confloat(ge=0.0, le=1.0)
    """
    Height of the box, 0 to 1 of the image height
    """


class FailedImage(BaseModel):
    seq: conint(ge=0)
    """
    Zero-based index of the image in the upload
    """
    status: Literal['failed']
    error_code: (
        Literal[
            'OP-TASK-REQUEST-INVALID', 'OP-TASK-UPSTREAM-DOWN', 'OP-SYS-UNAVAILABLE'
        ]
        | str
    )
    """
    Reason of the failure; failed images are not charged
    """


class NewImageDetection(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    files: list[bytes] = Field(..., max_length=10, min_length=1)
    """
    Image files: JPEG, PNG or WEBP, at most 8 MiB each, each with a file name
    """
    scene_code: str | None = None
    """
    Code of an enabled scene; default: `fire_smoke`
    """


class Link(BaseModel):
    """
    Link that reads one path without an API key
    """

    url: str
    """
    Path of the link; append it to the address of the API
    """
    expires_at: AwareDatetime
    """
    Time at which the link expires
    """


class NewLink(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    path: constr(max_length=2048)
    """
    Path to share: `/v1/vision/tasks/{task_id}/video`, without a query
    """
    expires_in_s: conint(ge=60, le=86400)
    """
    Seconds that the link is valid for
    """


class Task(BaseModel):
    """
    Video task
    """

    task_id: UUID
    request_id: str
    """
    Idempotency-Key of the create request, as it was sent
    """
    scene_code: str
    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    result_expires_at: AwareDatetime
    """
    Time at which the results are deleted
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime


class NewStreamTask(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    scene_code: constr(min_length=1, max_length=200)
    """
    Code of an enabled scene
    """
    stream_url: str
    """
    Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that streams commonly use.
    """


class ImageSize(BaseModel):
    """
    Size in pixels, after the orientation of the video is applied
    """

    width: conint(ge=1)
    height: conint(ge=1)


class TrackedObject(BaseModel):
    """
    Object detected in a video frame
    """

    label: str
    """
    Label of the object, one of the labels of the scene
    """
    score: confloat(ge=0.0, le=1.0)
    """
    Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct
    """
    bbox: BoundingBox
    track_id: str
    """
    Identifier of the object across the frames of the task
    """


class Dropped(BaseModel):
    """
    Frames that were read and not stored. `fresher`: a newer frame was there. `no_number`, `not_held`, `unsent`: a part of the service was unavailable
    """

    fresher: conint(ge=0)
    no_number: conint(ge=0)
    not_held: conint(ge=0)
    unsent: conint(ge=0)


class Frames(BaseModel):
    stored: conint(ge=0)
    """
    Number of stored frames
    """
    dropped: Dropped | None = None
    """
    Frames that were read and not stored. `fresher`: a newer frame was there. `no_number`, `not_held`, `unsent`: a part of the service was unavailable
    """


class Ended(BaseModel):
    """
    How the task ended; present only if it has ended
    """

    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    reason: (
        Literal[
            'unreachable',
            'source_lost',
            'stream_ended',
            'auth_failed',
            'not_found',
            'codec_unsupported',
            'no_video_track',
            'unreadable',
            'format_changed',
            'video_too_long',
            'video_too_dense',
            'too_much_data',
            'decode_time_exceeded',
            'decoder_failed',
            'service_fault',
            'unknown',
        ]
        | str
        | None
    ) = None
    """
    Reason of a `failed` or `refunded` task
    """
    advice: str | None = None
    """
    What a caller can do about it, as an English sentence
    """


class Item(BaseModel):
    at_ms: int
    """
    Unix time of the change, in milliseconds
    """
    state: (
        Literal[
            'connecting',
            'streaming',
            'stalled',
            'blocked',
            'reconnecting',
            'waiting',
            'processing',
        ]
        | str
    )
    reason: (
        Literal[
            'unreachable',
            'source_lost',
            'stream_ended',
            'auth_failed',
            'not_found',
            'codec_unsupported',
            'no_video_track',
            'unreadable',
            'format_changed',
            'video_too_long',
            'video_too_dense',
            'too_much_data',
            'decode_time_exceeded',
            'decoder_failed',
            'service_fault',
            'unknown',
        ]
        | str
        | None
    ) = None
    """
    Why the last connection ended
    """


class TaskSource(BaseModel):
    """
    State of the source of a video task
    """

    kind: Literal['stream', 'upload'] | str
    """
    Kind of the source: live stream or uploaded video
    """
    state: (
        Literal[
            'connecting',
            'streaming',
            'stalled',
            'blocked',
            'reconnecting',
            'waiting',
            'processing',
            'unknown',
            'ended',
        ]
        | str
    )
    """
    `waiting`: no connection is attempted yet. `connecting`: no frame has arrived yet. `streaming`: frames arrive. `stalled`: connected, no frame for 2 s. `blocked`: frames wait because the service is busy. `reconnecting`: the connection was lost. `processing`: frames of an uploaded video are read. `unknown`: the inference backend does not report it. `ended`: the task has ended
    """
    since_ms: int
    """
    Unix time since which the state holds, in milliseconds
    """
    last_frame_time_ms: int | None = None
    """
    `frame_time_ms` of the last stored frame; of an upload, compare it with `duration_ms`
    """
    duration_ms: int | None = None
    """
    How long an uploaded video plays, in milliseconds
    """
    sample_fps: float | None = None
    """
    Frame rate at which the source is analysed, in frames per second
    """
    measured_fps: float | None = None
    """
    Rate at which frames arrived over three seconds, at most `sample_fps`, in frames per second
    """
    is_behind: bool | None = None
    """
    Whether the service is too slow for the frame rate
    """
    codec: str | None = None
    """
    Video codec, such as `h264` or `hevc`
    """
    image: ImageSize | None = None
    frames: Frames
    reconnects: conint(ge=0) | None = None
    """
    Number of lost connections
    """
    ended: Ended | None = None
    """
    How the task ended; present only if it has ended
    """
    items: list[Item]
    """
    Earlier states, newest first; at most 1,000 per task, short ones are left out first
    """
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """


class Best(BaseModel):
    """
    The object with the highest score; among equal scores the largest, then the first
    """

    frame_id: str
    frame_time_ms: int
    score: float
    bbox: BoundingBox


class FirstBbox(BaseModel):
    """
    Box in the first frame
    """

    format: Literal['cxcywh_normalized'] | str
    cx: confloat(ge=0.0, le=1.0)
    """
    Horizontal centre of the box, 0 to 1 of the image width
    """
    cy: confloat(ge=0.0, le=1.0)
    """
    Vertical centre of the box, 0 to 1 of the image height
    """
    width: confloat(ge=0.0, le=1.0)
    """
    Width of the box, 0 to 1 of the image width
    """
    height: confloat(ge=0.0, le=1.0)
    """
    Height of the box, 0 to 1 of the image height
    """


class LastBbox(BaseModel):
    """
    Box in the last frame
    """

    format: Literal['cxcywh_normalized'] | str
    cx: confloat(ge=0.0, le=1.0)
    """
    Horizontal centre of the box, 0 to 1 of the image width
    """
    cy: confloat(ge=0.0, le=1.0)
    """
    Vertical centre of the box, 0 to 1 of the image height
    """
    width: confloat(ge=0.0, le=1.0)
    """
    Width of the box, 0 to 1 of the image width
    """
    height: confloat(ge=0.0, le=1.0)
    """
    Height of the box, 0 to 1 of the image height
    """


class Snapshot(BaseModel):
    """
    Image of the object
    """

    state: Literal['none'] | str
    reason: Literal['not_supported'] | str | None = None


class Track(BaseModel):
    """
    One object of a video task, from its first to its last frame
    """

    track_id: str
    """
    The `track_id` of the objects of this track
    """
    label: str
    """
    Label of the object with the best score
    """
    state: Literal['active', 'ended'] | str
    """
    `ended`: no object for 3 s of frame time, a newer attempt began, or the task has ended
    """
    ended_by: Literal['left', 'gap', 'attempt', 'task_end'] | str | None = None
    """
    `left`: frames followed without the object. `gap`: no frame followed for 3 s. `attempt`: another worker continued the task with new tracks. `task_end`: the task ended. Absent while active
    """
    first_time_ms: int
    """
    `frame_time_ms` of the first frame with the object
    """
    last_time_ms: int
    """
    `frame_time_ms` of the last frame with the object
    """
    frames: int
    """
    Frames with the object
    """
    best: Best
    """
    The object with the highest score; among equal scores the largest, then the first
    """
    first_bbox: FirstBbox
    """
    Box in the first frame
    """
    last_bbox: LastBbox
    """
    Box in the last frame
    """
    mean_score: float
    """
    Mean score over all frames, 0 to 1, 4 decimals
    """
    snapshot: Snapshot
    """
    Image of the object
    """


class DailyUsage(BaseModel):
    """
    Usage of one of the day's quotas
    """

    limit: int
    """
    Units per day
    """
    used: int
    """
    Units used today, including units reserved for work in progress
    """
    remaining: int
    resets_at: AwareDatetime
    """
    Start of the next quota day, 00:00 UTC+8
    """


class UsageDay(BaseModel):
    """
    Usage of one day
    """

    day: date
    """
    Quota day, YYYY-MM-DD in UTC+8
    """
    video: int
    """
    Video tasks charged, including work in progress
    """
    image: int
    """
    Images charged, including work in progress
    """


class NewUploadTask(BaseModel):
    model_config = ConfigDict(
        extra='forbid',
    )
    scene_code: str
    """
    Code of an enabled scene
    """
    file: bytes
    """
    Video file: MP4 or MOV content, at most 512 MiB, with a file name
    """


class Problem(BaseModel):
    """
    Error response (RFC 9457). `code` is absent on 403, 404, 405, 416, 500 and conflicts of the admin API.
    """

    type: str
    """
    Problem type: `urn:vision:problem:<details.reason>`
    """
    title: str
    """
    Short summary; the same for all problems of one code or status
    """
    status: int
    """
    HTTP status code
    """
    detail: str
    """
    Explanation for people, with what to do; the wording may change
    """
    instance: str
    """
    Identifier of the request: `urn:request:<X-Request-Id>`
    """
    code: (
        Literal[
            'OP-AUTH-REQUIRED',
            'OP-TASK-REQUEST-INVALID',
            'OP-TASK-SCENE-UNAVAILABLE',
            'OP-TASK-NOT-STOPPABLE',
            'OP-TASK-UPSTREAM-DOWN',
            'OP-TASK-BREAKER-OPEN',
            'OP-QUOTA-DAILY-EXHAUSTED',
            'OP-QUOTA-RATE-LIMITED',
            'OP-SYS-UNAVAILABLE',
        ]
        | str
        | None
    ) = None
    """
    Machine-readable error code
    """
    details: ProblemDetails
    trace_id: str
    """
    Identifier of the trace, as in the header X-Trace-Id; include it in support requests
    """
    retryable: bool
    """
    True if the unchanged request may succeed later
    """


class Quality(BaseModel):
    """
    Measured quality; absent if the operator provides none
    """

    method: constr(min_length=1)
    """
    Detection method for images and video
    """
    measured_on: constr(min_length=1)
    """
    Data that the figures were measured on, or a statement that none were measured
    """
    figures: list[QualityFigure]
    """
    Measured figures; may be empty
    """
    limits: list[constr(min_length=1)]
    """
    Known limits: objects that are missed or mistaken, one sentence each
    """


class Scene(BaseModel):
    """
    Set of objects that the service detects
    """

    scene_code: constr(pattern=r'^[a-z][a-z0-9_]{0,63}$')
    name: constr(min_length=1)
    description: constr(min_length=1)
    enabled: bool
    """
    True if the scene is accepted as `scene_code`
    """
    labels: list[constr(min_length=1)] = Field(..., min_length=1)
    """
    Labels that detections of this scene can carry
    """
    lower_bound: confloat(ge=0.0, le=1.0)
    """
    Lowest stored score. Detections with a lower score are not stored.
    """
    default_min_score: confloat(ge=0.0, le=1.0)
    """
    Default score threshold of a task, fixed when the task is created
    """
    quality: Quality | None = None
    """
    Measured quality; absent if the operator provides none
    """


class DetectedObject(BaseModel):
    """
    Object detected in an image
    """

    label: str
    """
    Label of the object, one of the labels of the scene
    """
    score: confloat(ge=0.0, le=1.0)
    """
    Confidence, 0 to 1; for a calibrated detector, the probability that the box is correct
    """
    bbox: BoundingBox


class TaskHistoryEntry(BaseModel):
    """
    Video task or image call
    """

    task_id: UUID
    request_id: str
    """
    Idempotency-Key of the create request, as it was sent
    """
    scene_code: str
    status: (
        Literal[
            'submitting',
            'resolving',
            'running',
            'stopping',
            'stopped',
            'succeeded',
            'failed',
            'refunded',
        ]
        | str
    )
    """
    `submitting`: charged, being submitted to the inference backend. `resolving`: the outcome of the submission is unknown and is being determined. `running`: producing frames. `stopping`: a stop was requested. `stopped`, `succeeded`, `failed`: final. `refunded`: never started; the unit was returned.
    """
    result_expires_at: AwareDatetime
    """
    Time at which the results are deleted
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime
    kind: Literal['video', 'image'] | str
    client_ref: constr(pattern=r'^[A-Za-z0-9._:-]{1,64}$') | None = None
    """
    `client_ref` of the create request; absent without one
    """


class ResultFrame(BaseModel):
    """
    Result frame of a video task
    """

    frame_id: str
    """
    Identifier of the frame: `<task_id>-<frame number>`
    """
    frame_time_ms: int
    """
    Time of the frame in milliseconds: offset in the video (PTS) for files, Unix time for live streams
    """
    image: ImageSize
    objects: list[TrackedObject]
    """
    Objects at or above the effective score threshold, highest score first
    """
    objects_total: int | None = None
    """
    Number of objects before score filtering; present only if `min_score` was sent
    """


class TrackPage(BaseModel):
    items: list[Track]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """
    resume_cursor: str
    """
    With `order=changed`: returns each track that changes after this page, with its latest state. With `order=oldest`: returns tracks that begin later. Empty with `order=newest` and when no track can follow
    """
    as_of_ms: int | None
    """
    `frame_time_ms` of the newest frame that the answer counts; null without a frame
    """


class Usage(BaseModel):
    video: DailyUsage
    image: DailyUsage


class UsageDays(BaseModel):
    items: list[UsageDay]


class SceneList(BaseModel):
    scenes: list[Scene]


class SucceededImage(BaseModel):
    seq: conint(ge=0)
    """
    Zero-based index of the image in the upload
    """
    status: Literal['succeeded']
    objects: list[DetectedObject]
    """
    Detected objects, highest score first
    """


class TaskPage(BaseModel):
    items: list[TaskHistoryEntry]
    next_cursor: str
    """
    Cursor of the next page; empty on the last page
    """


class ResultPage(BaseModel):
    items: list[ResultFrame]
    next_cursor: str
    """
    Cursor of the next page; empty if no further frame is stored yet
    """
    resume_cursor: str
    """
    Cursor that continues after this page, including frames not stored yet; empty when the task has ended and all frames were delivered
    """


class StoredImageDetection(BaseModel):
    """
    Stored outcome of an image call
    """

    task_id: UUID
    """
    Identifier of the call in the task history
    """
    request_id: str
    """
    Idempotency-Key of the call, as it was first sent
    """
    status: Literal['succeeded'] | str
    """
    Status of the call; each image has its own in `results`
    """
    results: list[
        Annotated[SucceededImage | FailedImage, Field(discriminator='status')]
    ]
    """
    One entry per image, in upload order
    """
    scene_code: str
    created_at: AwareDatetime
    result_expires_at: AwareDatetime
    """
    Time at which the detections are deleted
    """


class ImageDetection(BaseModel):
    """
    Outcome of an image call
    """

    task_id: UUID
    """
    Identifier of the call in the task history
    """
    request_id: str
    """
    Idempotency-Key of the call, as it was first sent
    """
    status: Literal['succeeded'] | str
    """
    Status of the call; each image has its own in `results`
    """
    results: list[
        Annotated[SucceededImage | FailedImage, Field(discriminator='status')]
    ]
    """
    One entry per image, in upload order
    """
    replayed: Literal[True] | None = None
    """
    Present only on an idempotent replay
    """
