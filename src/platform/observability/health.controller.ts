import { Controller, Get, Header } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { Operation } from '../http/operation';
import { Metrics } from './metrics';
import { Readiness } from './readiness';

class HealthDto {
  @ApiProperty({ enum: ['ok'], example: 'ok' })
  readonly status!: 'ok';
}

@ApiTags('Operations')
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @Operation({
    summary: 'Liveness probe',
    description: 'Answers 200 while the process runs, regardless of its database.',
    access: 'public',
    answer: HealthDto,
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
    answer: HealthDto,
  })
  async ready(): Promise<HealthDto> {
    await this.readiness.check();
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Operation({
    summary: 'Read the metrics',
    description: 'In the text format of Prometheus.',
    access: 'metrics:read',
    file: 'text/plain',
  })
  readMetrics(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
