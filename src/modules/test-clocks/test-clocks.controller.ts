import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { outcomeUnknown } from '../../platform/errors';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { changedAnswer, IdempotentInPhases } from '../../platform/idempotency';
import type { TestClock } from './domain/test-clock';
import {
  AdvanceTestClockDto,
  CreateTestClockDto,
  TestClockDto,
  TestClockNextDto,
  toTestClockDto,
  toTestClockNextDto,
} from './dto/test-clock.dto';
import {
  testClockAdvancing,
  testClockCannotReach,
  testClockFailed,
  testClockNotFound,
} from './test-clocks.errors';
import { DeleteTestClockService } from './delete-test-clock.service';
import { TestClocksService } from './test-clocks.service';

const testClockId = new IdPipe('clock', testClockNotFound);

@ApiTags('Test clocks')
@Controller('v1/test-clocks')
export class TestClocksController {
  constructor(
    private readonly clocks: TestClocksService,
    private readonly deleteTestClockService: DeleteTestClockService,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a test clock',
    description:
      'Customers created with the id of the clock use its time for everything that is billed.',
    access: 'test-clocks:write',
    status: 201,
    answer: TestClockDto,
    key: 'optional',
  })
  async createTestClock(@Body() body: CreateTestClockDto): Promise<TestClockDto> {
    return toTestClockDto(await this.clocks.create(body.name, new Date(body.now)));
  }

  @Get()
  @Operation({
    summary: 'List test clocks',
    description: 'Newest first.',
    access: 'test-clocks:read',
    answer: pageOf(TestClockDto),
  })
  async listTestClocks(@Query() query: ListQueryDto): Promise<PageDto<TestClockDto>> {
    return toPageDto(await this.clocks.list(toPageRequest(query, 'clock')), toTestClockDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a test clock',
    description: 'Returns the time of the clock and the progress of an advance.',
    access: 'test-clocks:read',
    answer: TestClockDto,
    problems: [testClockNotFound],
  })
  async getTestClock(@Param('id', testClockId) id: string): Promise<TestClockDto> {
    return toTestClockDto(await this.clocks.get(id));
  }

  @Get(':id/next')
  @Operation({
    summary: 'Read what falls due next on a test clock',
    description:
      'Advance the clock to `due_at` to run exactly the next work. Work that this creates may be due at the same instant and ' +
      'runs in the same advance.',
    access: 'test-clocks:read',
    answer: TestClockNextDto,
    problems: [testClockNotFound],
  })
  async getTestClockNext(@Param('id', testClockId) id: string): Promise<TestClockNextDto> {
    return toTestClockNextDto(await this.clocks.next(id));
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a test clock and its customers',
    description:
      'Deletes the customers of the clock with their subscriptions, invoices, payments, refunds and ledger transactions, ' +
      'and the events and deliveries about them. Their numbers are not reused. The clock disappears at once; its customers are ' +
      'purged in portions. Answers when all are purged, or after ten seconds. Background work purges the rest, also after ' +
      'an interruption.',
    access: 'test-clocks:write',
    problems: [testClockNotFound, testClockAdvancing, outcomeUnknown],
  })
  async deleteTestClock(@Param('id', testClockId) id: string): Promise<void> {
    await this.deleteTestClockService.delete(id);
  }

  @Post(':id/advance')
  @IdempotentInPhases()
  @Operation({
    summary: 'Advance a test clock',
    description:
      'Runs all work that falls due until `to`, in due order, with the same code as in real time, and ' +
      'responds when it is done. The same steps give the same amounts, lines and number of events. Repeat an interrupted ' +
      'call with the same `to`.',
    access: 'test-clocks:write',
    answer: TestClockDto,
    key: 'optional',
    problems: [testClockNotFound, testClockCannotReach, testClockAdvancing, testClockFailed],
  })
  async advanceTestClock(
    @Param('id', testClockId) id: string,
    @Body() body: AdvanceTestClockDto,
  ): Promise<TestClockDto> {
    const toAnswer = (clock: TestClock) => changedAnswer(toTestClockDto(clock));
    return toTestClockDto(await this.clocks.advance(id, new Date(body.to), toAnswer));
  }
}
