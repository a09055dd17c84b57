"""What jobs are called, and which one is meant."""

import pytest

from callboard.actors.vocabulary.job_names import find_job, job_name, job_title

NAMES = {0: "scan", 1: "job-1", 2: "12", 12: "ads", 13: "job-4", 4: "logs", 5: "twin", 6: "twin"}


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("0", 0),
        ("job-0", 0),
        ("scan", 0),
        (" scan ", 0),
        ("job-1", 1),
        ("1", 1),
        ("job-12", 12),
        ("ads", 12),
        ("4", 4),
        ("2", 2),
    ],
)
def test_a_job_is_found_by_its_number_or_its_name(text: str, job: int) -> None:
    assert find_job(text, NAMES) == job


@pytest.mark.parametrize("number", [0, 7, 123456])
def test_the_name_by_number_is_understood(number: int) -> None:
    assert (
        find_job(job_name(number), {number: "x"}) == find_job(str(number), {number: ""}) == number
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("12", '"12" is job-12 “ads” by number and job-2 by name; say job-12 or job-2'),
        ("job-4", '"job-4" is job-4 “logs” by number and job-13 by name; say 4 or job-13'),
        ("twin", '"twin" is the name of job-5 and job-6; say which by number'),
        ("99", "there is no job-99; there are job-0 to job-13"),
        ("job-99", "there is no job-99; there are job-0 to job-13"),
        ("scam", 'no job is called "scam"; did you mean `scan`?'),
        ("", 'no job is called ""; there are: scan, job-1, 12, ads, job-4, logs, twin, twin'),
        ("-3", 'no job is called "-3"; there are: '),
        ("job-٣", 'no job is called "job-٣"; did you mean '),
    ],
)
def test_a_job_is_never_guessed(text: str, said: str) -> None:
    with pytest.raises(LookupError) as error:
        find_job(text, NAMES)
    assert str(error.value).startswith(said)


def test_the_title_says_a_name_once() -> None:
    assert job_title(12, "scan") == "job-12 “scan”"
    assert job_title(12, "job-12") == "job-12"
    assert job_title(12, "job-1") == "job-12 “job-1”"
