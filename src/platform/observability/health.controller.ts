import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Database } from '../database';
import { serviceUnavailable } from '../errors';
import { Operation } from '../http/operation';
import { Lifecycle } from './lifecycle';
import { Metrics } from './metrics';

/** For the database to answer whoever asks whether this process can serve. */
const ANSWER_MS = 3_000;

class HealthDto {
  @ApiProperty({ enum: ['ok'], example: 'ok' })
  readonly status!: 'ok';
}

@ApiTags('Operations')
@Controller()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly lifecycle: Lifecycle,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @Operation({
    summary: 'Tell whether the process lives',
    description: 'Answers as long as the process runs, whatever its database does.',
    status: 200,
    answer: HealthDto,
    reads: 'path',
  })
  live(): HealthDto {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @Operation({
    summary: 'Tell whether the process can serve',
    description:
      '503 while it starts or stops, or while its database is out of reach or takes no writes.',
    status: 200,
    answer: HealthDto,
    reads: 'path',
  })
  async ready(): Promise<HealthDto> {
    if (this.lifecycle.draining) throw serviceUnavailable('The service is stopping.');
    // Whatever keeps it from that, `Database` tells the log.
    await this.database.requireWritable(ANSWER_MS).catch(() => {
      throw serviceUnavailable('The database does not answer, or takes no writes.');
    });
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @ApiOperation({ summary: 'Read the metrics', description: 'In the text format of Prometheus.' })
  @ApiProduces('text/plain')
  @ApiOkResponse({
    description: 'Success.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  readMetrics(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
