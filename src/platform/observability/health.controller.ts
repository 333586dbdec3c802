import { Controller, Get, Header } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { ReservedConnection } from '../database';
import { serviceUnavailable } from '../errors';
import { Operation } from '../http/operation';
import { ClockCheck } from '../processes';
import { Lifecycle } from './lifecycle';
import { Metrics } from './metrics';

/** Time limit in milliseconds for the database, so that the probe has its answer within 1 s. */
const ANSWER_MS = 800;

class HealthDto {
  @ApiProperty({ enum: ['ok'], example: 'ok' })
  readonly status!: 'ok';
}

@ApiTags('Operations')
@Controller()
export class HealthController {
  constructor(
    private readonly reserved: ReservedConnection,
    private readonly lifecycle: Lifecycle,
    private readonly metrics: Metrics,
    private readonly clockCheck: ClockCheck,
  ) {}

  @Get('health/live')
  @Operation({
    summary: 'Liveness probe',
    description: 'Answers 200 while the process runs, regardless of its database.',
    access: 'public',
    status: 200,
    answer: HealthDto,
    reads: 'path',
  })
  live(): HealthDto {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @Operation({
    summary: 'Readiness probe',
    description:
      '503 while the process starts or stops, while its database is unreachable or read-only, or while its clock differs from ' +
      'that of the database by more than 5 s.',
    access: 'public',
    status: 200,
    answer: HealthDto,
    reads: 'path',
  })
  async ready(): Promise<HealthDto> {
    if (this.lifecycle.draining) throw serviceUnavailable('The service is stopping.');
    // `OutageLog` logs the reason.
    await this.reserved.requireWritable(ANSWER_MS).catch(() => {
      throw serviceUnavailable('The database does not answer, or is read-only.');
    });
    const { fault } = this.clockCheck;
    if (fault !== null) throw serviceUnavailable(fault);
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Operation({
    summary: 'Read the metrics',
    description: 'In the text format of Prometheus.',
    access: 'metrics:read',
    status: 200,
    file: 'text/plain',
    reads: 'path',
  })
  readMetrics(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
